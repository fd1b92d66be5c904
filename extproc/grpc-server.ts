import type { ServerDuplexStream } from "@grpc/grpc-js";
import grpc from "@grpc/grpc-js";
import type { Logger } from "pino";
import { grpcOptions } from "./grpc-options.js";
import type { Health } from "./health.js";
import type { ProcessingRequest, ProcessingResponse } from "./messages.js";
import { loadExternalProcessor, loadHealth } from "./protos.js";
import type { Role } from "./role.js";
import { ProcessingStream } from "./stream.js";

/** gRPC initial metadata that tells which job a stream is for. */
export const ROLE_HEADER = "x-llm-breaker-role";

/** What one stream finds its role in. */
export interface RoleLease {
  readonly services: { readonly roles: ReadonlyMap<string, Role> };
  end(): void;
}

/** A service beside ext_proc on the same port. */
export interface SideService {
  readonly definition: grpc.ServiceDefinition;
  readonly implementation: grpc.UntypedServiceImplementation;
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
  private readonly server: grpc.Server;
  private readonly sides: readonly SideService[];

  constructor({ maxBodyBytes, lease, health, sides = [], log }: GrpcSettings) {
    // grpc-js prints lines of its own between our JSON; what matters in them reaches us as errors.
    grpc.setLogVerbosity(grpc.logVerbosity.NONE);
    this.server = new grpc.Server(grpcOptions(maxBodyBytes));
    this.server.addService(loadHealth(), health.implementation);
    for (const { definition, implementation } of sides) this.server.addService(definition, implementation);
    this.sides = sides;
    this.server.addService(loadExternalProcessor(), {
      Process(call: ServerDuplexStream<ProcessingRequest, ProcessingResponse>) {
        const name = String(call.metadata.get(ROLE_HEADER)[0] ?? "");
        const { services, end } = lease();
        const role = services.roles.get(name);
        if (role === undefined)
          log.warn({ role: name.slice(0, 40) }, `unknown ${ROLE_HEADER}, stream is answered by CONTINUE`);
        new ProcessingStream(call, role, log, end);
      },
    });
  }

  /** Resolves with the port, which is a free one when the address asks for 0. */
  listen(address: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (cause, port) => {
        if (cause) reject(cause);
        else resolve(port);
      });
    });
  }

  /** Refuses new streams and lets open ones finish within the limit; resolves with false when some had to be cut. */
  drain(limitMs: number): Promise<boolean> {
    for (const side of this.sides) side.drain();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.close();
        resolve(false);
      }, limitMs);
      this.server.tryShutdown(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  /** Cuts everything. */
  close(): void {
    this.server.forceShutdown();
  }
}
