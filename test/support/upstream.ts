import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import { createServer as createHttp2Server, type Http2Server } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { answer, type Incoming, type Outgoing } from "./upstream-answer.js";
import { type Mode, modeAskedBy } from "./upstream-mode.js";

/** One request as the upstream saw it. */
export interface Arrival {
  readonly index: number;
  /** By `performance.now()`. */
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Header values as they came, duplicates and all: name, value, name, value. */
  readonly rawHeaders: readonly string[];
  /** Envoy's `x-envoy-attempt-count`; 0 when the header is absent. */
  readonly attempt: number;
  mode: Mode;
  body: Buffer;
  bodyBytes: number;
  bodySha256: string;
  /** `left` when the other side ended it before the answer was whole. */
  ended: "complete" | "left" | undefined;
  endedAtMs: number | undefined;
}

export interface UpstreamSettings {
  /** Any free port when absent. */
  readonly port?: number;
  readonly mode?: Mode;
  /** HTTP/2 without TLS instead of HTTP/1.1. */
  readonly h2c?: boolean;
}

/** A fake model server on 127.0.0.1 that does what `mode` says and remembers every request. */
export class Upstream {
  /** Either one mode for all, or a choice per request (called when its body is complete). */
  mode: Mode | ((arrival: Arrival) => Mode);
  readonly arrivals: Arrival[] = [];
  readonly #server: Server | Http2Server;
  readonly #sockets = new Set<Socket>();
  #active = 0;
  #peak = 0;

  constructor(settings: UpstreamSettings) {
    this.mode = settings.mode ?? { kind: "ok" };
    const take = (request: Incoming, response: Outgoing): void => void this.#take(request, response);
    this.#server = settings.h2c ? createHttp2Server(take) : createServer({ keepAliveTimeout: 60_000 }, take);
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", () => resolve());
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Requests in flight now. */
  get active(): number {
    return this.#active;
  }

  /** The most requests that were in flight at once since the last `reset`. */
  get peak(): number {
    return this.#peak;
  }

  /** Forgets what has arrived; the mode stays. */
  reset(): void {
    this.arrivals.length = 0;
    this.#peak = this.#active;
  }

  /** Closes the listener and every connection. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #take(request: Incoming, response: Outgoing): Promise<void> {
    const arrival = this.#record(request);
    this.#active++;
    this.#peak = Math.max(this.#peak, this.#active);
    response.on("error", () => {});
    response.on("close", () => {
      this.#active--;
      arrival.ended = response.writableFinished ? "complete" : "left";
      arrival.endedAtMs = performance.now();
    });
    const path = arrival.path;
    const asked = modeAskedBy(path, arrival.headers["x-upstream-mode"]);
    const early = asked ?? (typeof this.mode === "function" ? undefined : this.mode);
    if (early?.kind !== "status" || !early.early) await readBody(request, arrival);
    arrival.mode = asked ?? (typeof this.mode === "function" ? this.mode(arrival) : this.mode);
    await answer(arrival.mode, arrival, request, response);
  }

  #record(request: Incoming): Arrival {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers)) {
      headers[name] = Array.isArray(value) ? value.join(", ") : String(value);
    }
    const arrival: Arrival = {
      index: this.arrivals.length,
      atMs: performance.now(),
      method: request.method ?? "",
      path: request.url ?? "",
      headers,
      rawHeaders: request.rawHeaders,
      attempt: Number(headers["x-envoy-attempt-count"] ?? 0),
      mode: { kind: "hang" },
      body: Buffer.alloc(0),
      bodyBytes: 0,
      bodySha256: "",
      ended: undefined,
      endedAtMs: undefined,
    };
    this.arrivals.push(arrival);
    return arrival;
  }
}

async function readBody(request: Incoming, arrival: Arrival): Promise<void> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    // The sender left; what came of the body is kept.
  }
  arrival.body = Buffer.concat(chunks);
  arrival.bodyBytes = arrival.body.length;
  arrival.bodySha256 = createHash("sha256").update(arrival.body).digest("hex");
}

export async function startUpstream(settings: UpstreamSettings = {}): Promise<Upstream> {
  const upstream = new Upstream(settings);
  await upstream.listen(settings.port ?? 0);
  return upstream;
}
