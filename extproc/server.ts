import type { Server as HttpServer } from "node:http";
import type { ServerDuplexStream } from "@grpc/grpc-js";
import grpc from "@grpc/grpc-js";
import type { Logger } from "pino";
import { Health } from "./health.js";
import { createHttpServer } from "./http.js";
import type { ProcessingRequest, ProcessingResponse } from "./messages.js";
import { loadExternalProcessor, loadHealth } from "./protos.js";
import type { ServiceConfig } from "./service-config.js";
import { buildServices, type Services } from "./services.js";
import { ProcessingStream } from "./stream.js";
import { createLog } from "./telemetry/log.js";

/** gRPC initial metadata that tells which job a stream is for. */
export const ROLE_HEADER = "x-llm-breaker-role";

/** Room for the largest body plus its frame; a larger message fails that stream only. */
const FRAME_BYTES = 1_048_576;

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
  // grpc-js prints lines of its own between our JSON; what matters in them reaches us as errors.
  grpc.setLogVerbosity(grpc.logVerbosity.NONE);
  const startedAt = performance.now();
  const services = buildServices(config, log);
  const health = new Health();
  const grpcServer = createGrpcServer(config, services, health, log);
  const grpcAddress = await listenGrpc(grpcServer, config.listen.grpc);
  const httpServer = createHttpServer(() => health.serving);
  const httpAddress = await listenHttp(httpServer, config.listen.http).catch((cause: unknown) => {
    grpcServer.forceShutdown();
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

function createGrpcServer(
  config: ServiceConfig,
  services: Services,
  health: Health,
  log: Logger,
): grpc.Server {
  const server = new grpc.Server({ "grpc.max_receive_message_length": config.maxBodyBytes + FRAME_BYTES });
  server.addService(loadHealth(), health.implementation);
  server.addService(loadExternalProcessor(), {
    Process(call: ServerDuplexStream<ProcessingRequest, ProcessingResponse>) {
      const name = String(call.metadata.get(ROLE_HEADER)[0] ?? "");
      const role = services.roles.get(name);
      if (role === undefined)
        log.warn({ role: name.slice(0, 40) }, `unknown ${ROLE_HEADER}, stream is answered by CONTINUE`);
      new ProcessingStream(call, role, log);
    },
  });
  return server;
}

async function drain(
  grpcServer: grpc.Server,
  httpServer: HttpServer,
  health: Health,
  limitMs: number,
  log: Logger,
): Promise<void> {
  log.info({ limitMs }, "draining");
  health.drain();
  let isCut = false;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      isCut = true;
      grpcServer.forceShutdown();
      resolve();
    }, limitMs);
    grpcServer.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
  // /healthz answers 503 until here, so that a load balancer sees the drain.
  httpServer.closeAllConnections();
  await new Promise<void>((resolve) => httpServer.close(() => resolve()));
  log[isCut ? "warn" : "info"](
    { isCut },
    isCut ? "drained, streams that were still open are cut" : "drained",
  );
}

async function listenGrpc(server: grpc.Server, address: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (cause, port) => {
      if (cause) reject(listenError("listen.grpc", address, cause));
      else resolve(`${hostOf(address)}:${port}`);
    });
  });
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
