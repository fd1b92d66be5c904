import type { Server as HttpServer } from "node:http";
import type { Logger } from "pino";
import { GrpcServer } from "./grpc-server.js";
import { Health } from "./health.js";
import { createHttpServer } from "./http.js";
import type { ServiceConfig } from "./service-config.js";
import { buildServices } from "./services.js";
import { createLog } from "./telemetry/log.js";

/** An address can't be listened on; the message names the setting. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

export interface Service {
  /** host:port as bound, also when the config asked for port 0. */
  readonly grpcAddress: string;
  readonly httpAddress: string;
  /** Refuses new work, lets open streams finish within `drainTimeout`, then cuts them. Idempotent. */
  close(): Promise<void>;
}

/**
 * Loads the vocabularies (1.5–2 s, blocking), then listens. Resolves when both ports serve.
 * @throws ConfigError for a bad vocabulary, ListenError for a port that can't be had.
 */
export async function startService(config: ServiceConfig): Promise<Service> {
  const log = createLog(config.log.level);
  const startedAt = performance.now();
  const services = buildServices(config, log);
  const health = new Health();
  const grpcServer = new GrpcServer({
    maxBodyBytes: config.maxBodyBytes,
    findRole: (name) => services.roles.get(name),
    health,
    log,
  });
  const grpcAddress = await listenGrpc(grpcServer, config.listen.grpc);
  const httpServer = createHttpServer(() => health.serving);
  const httpAddress = await listenHttp(httpServer, config.listen.http).catch((cause: unknown) => {
    grpcServer.close();
    throw cause;
  });
  log.info({ grpcAddress, httpAddress, startMs: Math.round(performance.now() - startedAt) }, "started");
  let closing: Promise<void> | undefined;
  return {
    grpcAddress,
    httpAddress,
    close() {
      closing ??= drain(grpcServer, httpServer, health, config.drainTimeout, log);
      return closing;
    },
  };
}

async function drain(
  grpcServer: GrpcServer,
  httpServer: HttpServer,
  health: Health,
  limitMs: number,
  log: Logger,
): Promise<void> {
  log.info({ limitMs }, "draining");
  health.drain();
  const isCut = !(await grpcServer.drain(limitMs));
  // /healthz answers 503 until here, so that a load balancer sees the drain.
  httpServer.closeAllConnections();
  await new Promise<void>((resolve) => httpServer.close(() => resolve()));
  log[isCut ? "warn" : "info"](
    { isCut },
    isCut ? "drained, streams that were still open are cut" : "drained",
  );
}

async function listenGrpc(server: GrpcServer, address: string): Promise<string> {
  const port = await server.listen(address).catch((cause: Error) => {
    throw listenError("listen.grpc", address, cause);
  });
  return `${hostOf(address)}:${port}`;
}

async function listenHttp(server: HttpServer, address: string): Promise<string> {
  const host = hostOf(address);
  const port = Number(address.slice(host.length + 1));
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(listenError("listen.http", address, cause)));
    server.listen(port, host.replace(/^\[|\]$/g, ""), () => {
      const bound = server.address();
      resolve(`${host}:${typeof bound === "object" && bound ? bound.port : port}`);
    });
  });
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":"));
}

function listenError(field: string, address: string, cause: Error): ListenError {
  // grpc-js wraps the system's own words: "No address added … errors: [listen EADDRINUSE …]".
  const reason = /\[(.*)\]$/.exec(cause.message)?.[1] ?? cause.message;
  return new ListenError(
    `EXTPROC start: ${field} ${address} can't be listened on: ${reason}; free the port or set ${field} to another one`,
    { cause },
  );
}
