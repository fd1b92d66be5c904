// The processes of the system, each started where it is to be.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { shipped } from "../e2e/support/shipped-config.js";
import { Child } from "../support/child.js";
import { send } from "../support/client.js";
import { type RunningEnvoy, startEnvoy } from "../support/envoy.js";
import { RunningRedis } from "../support/redis.js";
import { type RunningService, startService } from "../support/service.js";
import { SETTINGS_VARIABLE } from "./backend-settings.js";
import { type GatewayShape, patchGateway } from "./gateway-config.js";
import type { Running } from "./victim.js";

const readyTimeoutMs = 30_000;

export interface GatewayPorts {
  readonly clients: number;
  readonly admin: number;
  readonly grpc: number;
  readonly http: number;
  /** Of the service, where operators ask. */
  readonly control: number;
}

export interface BackendPorts {
  readonly gpu: number;
  readonly small: number;
  readonly public: number;
}

export async function startBackend(name: string, port: number, arrivalsFile: string): Promise<Child> {
  const script = fileURLToPath(new URL("backend-main.js", import.meta.url));
  const child = new Child({
    name: `the backend ${name}`,
    program: process.execPath,
    args: ["--enable-source-maps", script],
    cwd: process.cwd(),
    environment: { [SETTINGS_VARIABLE]: JSON.stringify({ port, arrivalsFile }) },
  });
  await child.whenReady(
    async () => (await send(`http://127.0.0.1:${port}/health`)).status === 200,
    readyTimeoutMs,
  );
  return child;
}

/** On one port in all its lives. */
export async function startRedis(port: number): Promise<Running> {
  const redis = await RunningRedis.start(port);
  return {
    pid: redis.child.pid,
    log: redis.child.log,
    get exit() {
      return redis.child.exit;
    },
    signal: (name) => redis.signal(name),
    stop: () => redis.stop(),
  };
}

export function startServiceOf(
  name: string,
  ports: GatewayPorts,
  peers: { readonly keyFile: string; readonly redisUrl: string },
): Promise<RunningService> {
  const { grpc, http, control } = ports;
  const listen = {
    grpc: `127.0.0.1:${grpc}`,
    http: `127.0.0.1:${http}`,
    admin: `127.0.0.1:${control}`,
  };
  const group = { name, keyFile: peers.keyFile, redis: { url: peers.redisUrl } };
  return startService({
    config: { listen, log: { level: "warn" }, drainTimeout: "2s", peers: group },
    httpPort: http,
  });
}

export function startGateway(
  shape: GatewayShape,
  ports: GatewayPorts,
  backends: BackendPorts,
): Promise<RunningEnvoy> {
  if (shape.accessLog) writeFileSync(shape.accessLog, "");
  const { clients, admin, grpc, http } = ports;
  return startEnvoy({
    configFile: "envoy/full.yaml",
    concurrency: 2,
    ports: {
      ...{ 10000: clients, 9901: admin, 9002: grpc, 9003: http },
      ...{ 9101: backends.gpu, 9102: backends.small, 9103: backends.public },
    },
    patch: (config) => patchGateway(shipped(config), shape),
  });
}
