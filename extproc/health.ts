import type {
  ServerUnaryCall,
  ServerWritableStream,
  sendUnaryData,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import grpc from "@grpc/grpc-js";

interface HealthCheckRequest {
  service?: string;
}
interface HealthCheckResponse {
  status: "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN";
}
type Watcher = ServerWritableStream<HealthCheckRequest, HealthCheckResponse>;

/** Names that health checks may ask for: the whole server, or its one service. */
const SERVICES = new Set(["", "envoy.service.ext_proc.v3.ExternalProcessor"]);

/** grpc.health.v1: SERVING until `drain`, NOT_SERVING after it. */
export class Health {
  private isServing = true;
  private readonly watchers = new Set<Watcher>();

  get serving(): boolean {
    return this.isServing;
  }

  readonly implementation: UntypedServiceImplementation = {
    Check: (
      call: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>,
      callback: sendUnaryData<HealthCheckResponse>,
    ) => {
      if (SERVICES.has(call.request.service ?? "")) callback(null, { status: this.status() });
      else callback({ code: grpc.status.NOT_FOUND, details: "no such service" });
    },
    Watch: (call: Watcher) => {
      const isKnown = SERVICES.has(call.request.service ?? "");
      call.write({ status: isKnown ? this.status() : "SERVICE_UNKNOWN" });
      this.watchers.add(call);
      call.on("cancelled", () => this.watchers.delete(call));
      call.on("error", () => this.watchers.delete(call));
    },
  };

  /** Tells all watchers and ends their calls, which would otherwise keep the server from closing. */
  drain(): void {
    this.isServing = false;
    for (const watcher of this.watchers) {
      watcher.write({ status: "NOT_SERVING" });
      watcher.end();
    }
    this.watchers.clear();
  }

  private status(): HealthCheckResponse["status"] {
    return this.isServing ? "SERVING" : "NOT_SERVING";
  }
}
