import type { Server as HttpServer } from "node:http";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import { type AdminPort, openAdminPort } from "./admin-port.js";
import { isLoopback } from "./control/guard.js";
import { ControlSide } from "./control-side.js";
import { Generations } from "./generations.js";
import { GrpcServer } from "./grpc-server.js";
import { Health } from "./health.js";
import { healthEndpoint } from "./health-endpoint.js";
import { createHttpServer } from "./http.js";
import { listenGrpc, listenHttp } from "./listen.js";
import { metricsEndpoint } from "./metrics-endpoint.js";
import type { ServiceParts } from "./parts.js";
import type { ServiceConfig } from "./service-config.js";
import { buildServices } from "./services.js";
import { Shelf } from "./shelf.js";
import { syncEndpoint } from "./sync-endpoint.js";
import { createLog } from "./telemetry/log.js";
import { defineSignalsMetrics } from "./telemetry/signals-metrics.js";
import { usageService } from "./usage/usage-service.js";
import { readTargets } from "./webhook/target.js";

/** Settings that ports, who may use them, and the largest gRPC message are made of. */
const START_ONLY = ["listen", "control", "maxBodyBytes"] as const;

export interface Service {
  /** host:port as bound, also when the config asked for port 0. */
  readonly grpcAddress: string;
  readonly httpAddress: string;
  /** Where the control API is; undefined when it is off. */
  readonly adminUrl: string | undefined;
  readonly log: Logger;
  /** Configurations in use: 1, and those that open streams began with. */
  readonly generations: number;
  /**
   * Streams that begin from now on are answered by `next`; open ones finish as they began. Ports stay as they are.
   * @throws ConfigError for what can't be built, like a bad vocabulary; nothing has changed then.
   */
  reconfigure(next: ServiceConfig): Promise<void>;
  /** Tells on /healthz that the file holds something else than what is in use. */
  setConfigStale(isStale: boolean): void;
  /** Refuses new work, lets open streams finish within `drainTimeout`, then cuts them. Idempotent. */
  close(): Promise<void>;
}

/**
 * Loads what `tokens.preload` names, then listens. Resolves when all ports serve.
 * @throws ConfigError for a bad vocabulary, ListenError for a port that can't be had.
 */
export async function startService(config: ServiceConfig, parts: ServiceParts = {}): Promise<Service> {
  const log = createLog(config.log.level);
  const startedAt = performance.now();
  const targets = readTargets(config.webhooks);
  const shelf = new Shelf();
  const side = new ControlSide(log, parts, config.peers);
  const generations = new Generations(await buildServices(config, shelf, log, side));
  side.use(() => generations.services.advisors);
  side.webhooks.apply(targets);
  defineSignalsMetrics(side.metrics, () => generations.services.signalAges());
  const health = new Health();
  const { maxBodyBytes } = config;
  const sides = [usageService(() => generations.services.limiter)];
  const grpcServer = new GrpcServer({ maxBodyBytes, lease: () => generations.lease(), health, sides, log });
  let inUse = config;
  let isConfigStale = false;
  const healthz = healthEndpoint({
    isServing: () => health.serving,
    isConfigStale: () => isConfigStale,
  });
  const sync = syncEndpoint(side.gateways, () => generations.services.admission, log);
  const metrics = metricsEndpoint(side.metrics);
  const httpServer = createHttpServer(new Map([...healthz, ...sync, ...metrics]), log);
  const giveUp = (cause: unknown): never => {
    grpcServer.close();
    httpServer.close();
    void side.close();
    generations.closeAll();
    throw cause;
  };
  await side.connect(config.peers).catch(giveUp);
  const grpcAddress = await listenGrpc(grpcServer, config.listen.grpc).catch(giveUp);
  const httpAddress = await listenHttp(httpServer, config.listen.http).catch(giveUp);
  const admin = await openAdminPort(config, side).catch(giveUp);
  warnOfOpenSync(config, log);
  const adminUrl = admin.url;
  log.info(
    { grpcAddress, httpAddress, adminUrl, startMs: Math.round(performance.now() - startedAt) },
    "started",
  );
  let closing: Promise<void> | undefined;
  return {
    grpcAddress,
    httpAddress,
    adminUrl,
    log,
    get generations() {
      return generations.count;
    },
    async reconfigure(next) {
      const nextTargets = readTargets(next.webhooks);
      const services = await buildServices(next, shelf, log, side);
      if (closing !== undefined) {
        services.close();
        return;
      }
      await side.connect(next.peers).catch((cause: unknown) => {
        services.close();
        throw cause;
      });
      generations.swap(services);
      side.webhooks.apply(nextTargets);
      log.level = next.log.level;
      log.info({ changed: changedKeys(inUse, next) }, "reconfigured");
      for (const key of START_ONLY) {
        if (!isDeepStrictEqual(config[key], next[key])) log.warn(`${key} has changed, which needs a restart`);
      }
      inUse = next;
    },
    setConfigStale(isStale) {
      isConfigStale = isStale;
    },
    close() {
      closing ??= drain(grpcServer, httpServer, admin, health, inUse.drainTimeout, log).then(async () => {
        await side.close();
        await generations.services.tracer?.flush();
        generations.closeAll();
      });
      return closing;
    },
  };
}

function warnOfOpenSync({ listen, sync }: ServiceConfig, log: Logger): void {
  if (isLoopback(listen.http) || sync !== undefined) return;
  log.warn(
    "whoever reaches listen.http may sync, vote and pass on operators' words: set sync.tokenFile, or let only gateways reach it",
  );
}

function changedKeys(old: ServiceConfig, next: ServiceConfig): string[] {
  const keys = Object.keys(next) as (keyof ServiceConfig)[];
  return keys.filter((key) => !isDeepStrictEqual(old[key], next[key]));
}

async function drain(
  grpcServer: GrpcServer,
  httpServer: HttpServer,
  admin: AdminPort,
  health: Health,
  limitMs: number,
  log: Logger,
): Promise<void> {
  log.info({ limitMs }, "draining");
  health.drain();
  const isCut = !(await grpcServer.drain(limitMs));
  // /healthz answers 503 until here, so that a load balancer sees the drain. Closed first: what connects after the cut, and never
  // ends its headers, would keep the server.
  const closed = new Promise<void>((resolve) => httpServer.close(() => resolve()));
  httpServer.closeAllConnections();
  await admin.close();
  await closed;
  log[isCut ? "warn" : "info"](
    { isCut },
    isCut ? "drained, streams that were still open are cut" : "drained",
  );
}
