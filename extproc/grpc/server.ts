import { createServer, type Http2Server, type ServerHttp2Stream, type ServerOptions } from "node:http2";
import type { AddressInfo } from "node:net";
import { GrpcCall, refuseOther } from "./call.js";
import { Sessions } from "./sessions.js";
import { Status } from "./status.js";

/** Answers the calls of one method; `call.handle` must be called at once. */
export type Method = (call: GrpcCall) => void;

const MIB = 1_048_576;

/**
 * Envoy opens one stream for each request, and all on a few connections.
 *
 * The windows let a body of some MiB come without a round trip for each 64 KiB, and none of many streams starve the
 * others. Node's own memory limit would refuse streams while one large answer waits to be read. Envoy resets streams as
 * its way to end them; Node takes more than 33 a second for an attack and cuts the connection. Those limits can be set
 * from Node 22.11 on; before, the cluster needs `max_requests_per_connection`.
 */
const OPTIONS = {
  settings: { maxConcurrentStreams: 10_000, initialWindowSize: MIB, enablePush: false },
  maxSessionMemory: Number.MAX_SAFE_INTEGER,
  streamResetBurst: 1e9,
  streamResetRate: 1e9,
  keepAlive: true,
  noDelay: true,
} as ServerOptions;
const CONNECTION_WINDOW = 16 * MIB;

/** A gRPC server in clear text. Knows no message's content. */
export class GrpcTransport {
  private readonly server: Http2Server = createServer(OPTIONS);
  private readonly sessions = new Sessions();

  constructor(methods: ReadonlyMap<string, Method>, maxMessageBytes: number) {
    this.server.on("session", (session) => {
      this.sessions.add(session);
      session.setLocalWindowSize(CONNECTION_WINDOW);
    });
    this.server.on("sessionError", () => {});
    this.server.on("stream", (stream: ServerHttp2Stream, headers) => {
      if (!headers["content-type"]?.startsWith("application/grpc")) {
        refuseOther(stream);
        return;
      }
      const call = new GrpcCall(stream, headers, maxMessageBytes);
      const method = methods.get(headers[":path"] ?? "");
      if (method) method(call);
      else call.fail(Status.Unimplemented, "no such method");
    });
  }

  /** Resolves with the port, which is a free one when 0 is asked for. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen(port, host, () => resolve((this.server.address() as AddressInfo).port));
    });
  }

  /** Takes no new calls; resolves when the open ones have ended, with false when some had to be cut. */
  async drain(limitMs: number): Promise<boolean> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.sessions.drain();
    let isCut = false;
    const timer = setTimeout(() => {
      isCut = true;
      this.sessions.destroy();
    }, limitMs);
    await closed;
    clearTimeout(timer);
    return !isCut;
  }

  /** Cuts everything. */
  close(): void {
    this.server.close();
    this.sessions.destroy();
  }
}
