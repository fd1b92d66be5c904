import type { Logger } from "pino";
import { Conversation } from "./conversation.js";
import type { GrpcCall } from "./grpc/call.js";
import { GrpcTransport, type Method } from "./grpc/server.js";
import type { Health } from "./health.js";
import type { Role } from "./role.js";
import { ProcessingStream } from "./stream.js";
import type { StreamTracer } from "./traces/trace.js";

/** gRPC initial metadata that tells which job a stream is for. */
export const ROLE_HEADER = "x-llm-breaker-role";

const PROCESS = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";
/** Room for the largest body plus its frame; a larger message fails that stream only. */
const FRAME_BYTES = 1_048_576;
/** A wrong name is wrong for every stream; some lines are enough. */
const MAX_WARNINGS = 10;

/** What one stream finds its role in. */
export interface RoleLease {
  readonly services: {
    readonly roles: ReadonlyMap<string, Role>;
    /** Absent when nothing is traced. */
    readonly tracer?: StreamTracer | undefined;
  };
  end(): void;
}

/** A service beside ext_proc on the same port. */
export interface SideService {
  /** By their paths, such as "/package.Service/Method". */
  readonly methods: ReadonlyMap<string, Method>;
  /** Ends the calls that would otherwise keep the server from closing. */
  drain(): void;
}

export interface GrpcSettings {
  readonly maxBodyBytes: number;
  /** Taken at each stream's start and ended with it, so that roles may be exchanged while the server runs. */
  readonly lease: () => RoleLease;
  readonly health: Health;
  readonly sides?: readonly SideService[];
  readonly log: Logger;
}

/** ext_proc, health and what else is given over one port. */
export class GrpcServer {
  private readonly transport: GrpcTransport;
  private readonly sides: readonly SideService[];

  constructor({ maxBodyBytes, lease, health, sides = [], log }: GrpcSettings) {
    let warnings = 0;
    const process: Method = (call: GrpcCall) => {
      const name = call.metadata(ROLE_HEADER) ?? "";
      const { services, end } = lease();
      const role = services.roles.get(name);
      if (role === undefined && warnings++ < MAX_WARNINGS)
        log.warn({ role: name.slice(0, 40) }, `unknown ${ROLE_HEADER}, stream is answered by CONTINUE`);
      // Envoy writes it, from its own span, into each stream that it opens; a client's own is no part of that.
      const traceParent = call.metadata("traceparent");
      const trace = role && services.tracer?.begin(name, traceParent);
      call.handle(new ProcessingStream(call, new Conversation(role, log, traceParent, trace), log, end));
    };
    const methods = [health, ...sides].flatMap((service) => [...service.methods]);
    this.transport = new GrpcTransport(new Map([[PROCESS, process], ...methods]), maxBodyBytes + FRAME_BYTES);
    this.sides = sides;
  }

  /** host:port, an IPv6 host in brackets. Resolves with the port, which is a free one when the address asks for 0. */
  listen(address: string): Promise<number> {
    const at = address.lastIndexOf(":");
    return this.transport.listen(address.slice(0, at).replace(/^\[|\]$/g, ""), Number(address.slice(at + 1)));
  }

  /** Refuses new streams and lets open ones finish within the limit; resolves with false when some had to be cut. */
  drain(limitMs: number): Promise<boolean> {
    for (const side of this.sides) side.drain();
    return this.transport.drain(limitMs);
  }

  /** Cuts everything. */
  close(): void {
    this.transport.close();
  }
}
