import type { GrpcCall } from "./grpc/call.js";
import type { Method } from "./grpc/server.js";
import { Status } from "./grpc/status.js";
import { readHealthRequest, ServingStatus, writeHealthResponse } from "./wire/health.js";

/** Names that health checks may ask for: the whole server, or its one service. */
const SERVICES = new Set(["", "envoy.service.ext_proc.v3.ExternalProcessor"]);

/** grpc.health.v1: SERVING until `drain`, NOT_SERVING after it. */
export class Health {
  private isServing = true;
  private readonly watchers = new Set<GrpcCall>();

  get serving(): boolean {
    return this.isServing;
  }

  readonly methods: ReadonlyMap<string, Method> = new Map([
    ["/grpc.health.v1.Health/Check", (call) => onRequest(call, (service) => this.check(call, service))],
    ["/grpc.health.v1.Health/Watch", (call) => this.watch(call)],
  ]);

  /** Tells all watchers and ends their calls, which would otherwise keep the server from closing. */
  drain(): void {
    this.isServing = false;
    for (const watcher of this.watchers) watcher.finish(writeHealthResponse(ServingStatus.NotServing));
    this.watchers.clear();
  }

  private check(call: GrpcCall, service: string): void {
    if (SERVICES.has(service)) call.finish(writeHealthResponse(this.status()));
    else call.fail(Status.NotFound, "no such service");
  }

  private watch(call: GrpcCall): void {
    const begin = (service: string) => {
      const answer = writeHealthResponse(
        SERVICES.has(service) ? this.status() : ServingStatus.ServiceUnknown,
      );
      if (!this.isServing) return call.finish(answer);
      call.write(answer);
      this.watchers.add(call);
    };
    onRequest(call, begin, () => this.watchers.delete(call));
  }

  private status(): ServingStatus {
    return this.isServing ? ServingStatus.Serving : ServingStatus.NotServing;
  }
}

/** Both methods take one request; what else comes is nobody's, and answering it would fill our memory. */
function onRequest(call: GrpcCall, begin: (service: string) => void, onClose: () => void = () => {}): void {
  let hasBegun = false;
  call.handle({
    onMessage: (message) => {
      if (hasBegun) return;
      hasBegun = true;
      begin(readHealthRequest(message));
    },
    onHalfClose: () => {},
    onClose,
  });
}
