import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Transition, TransitionLog } from "../fleet/transitions.js";
import type { RunningEnvoy } from "../support/envoy.js";
import { freePort } from "../support/ports.js";
import type { RunningService } from "../support/service.js";
import type { GatewayShape } from "./gateway-config.js";
import { type GatewayPorts, startBackend, startGateway, startRedis, startServiceOf } from "./parts.js";
import type { VictimName } from "./plan.js";
import { Traffic } from "./traffic.js";
import { trapModule } from "./trap-module.js";
import { Victim } from "./victim.js";

export type Letter = "a" | "b";
export type BackendName = "gpu" | "small" | "public";

export const letters: readonly Letter[] = ["a", "b"];
export const backendNames: readonly BackendName[] = ["gpu", "small", "public"];

/** Where each gateway's requests come from. */
export const sourceAddresses: Readonly<Record<Letter, string>> = { a: "127.0.0.1", b: "127.0.0.2" };
const perSecond: Readonly<Record<Letter, number>> = { a: 30, b: 10 };

/** One Envoy of two workers, its service, and its callers. */
export class Gateway {
  readonly traffic: Traffic;
  /** By backend, of each of its Envoys one after the other. */
  readonly transitions: Record<BackendName, TransitionLog[]> = { gpu: [], small: [], public: [] };

  constructor(
    readonly letter: Letter,
    readonly ports: GatewayPorts,
    readonly envoy: Victim<RunningEnvoy>,
    readonly service: Victim<RunningService>,
    seed: number,
  ) {
    this.traffic = new Traffic(ports.clients, perSecond[letter], seed + letters.indexOf(letter));
    this.readLog();
  }

  transitionsOf(name: BackendName): Transition[] {
    return this.transitions[name].flatMap((log) => log.refresh());
  }

  /** The log of an Envoy that has just started. */
  readLog(): void {
    const log = this.envoy.running?.log;
    if (!log) return;
    for (const name of backendNames) {
      this.transitions[name].push(new TransitionLog(log, letters.indexOf(this.letter), name));
    }
  }
}

/** Two gateways that share three backends, and tell each other by a Redis. */
export class System {
  private constructor(
    readonly folder: string,
    readonly gateways: Readonly<Record<Letter, Gateway>>,
    readonly backends: Readonly<Record<BackendName, Victim>>,
    readonly redis: Victim,
  ) {}

  static async start(seed: number): Promise<System> {
    const folder = mkdtempSync(join(tmpdir(), "llm-breaker-kills-"));
    const keyFile = join(folder, "peers.key");
    writeFileSync(keyFile, `${randomBytes(32).toString("hex")}\n`);
    const building = trapModule();
    const redisPort = await freePort();
    const redis = await Victim.start("redis", () => startRedis(redisPort));
    const peers = { keyFile, redisUrl: `redis://127.0.0.1:${redisPort}` };
    const ports = { gpu: await freePort(), small: await freePort(), public: await freePort() };
    const startOf = (name: BackendName) =>
      Victim.start(name, () => startBackend(name, ports[name], arrivalsFile(folder, name)));
    for (const name of backendNames) writeFileSync(arrivalsFile(folder, name), "");
    const [gpu, small, last] = await Promise.all([startOf("gpu"), startOf("small"), startOf("public")]);
    const startOne = async (letter: Letter, module?: string): Promise<Gateway> => {
      const own = await freePorts();
      const name = `gateway-${letter}`;
      const shape: GatewayShape = {
        name,
        sourceAddress: sourceAddresses[letter],
        ...(module !== undefined && { module, accessLog: accessLogFile(folder) }),
      };
      const service = await Victim.start(`service-${letter}`, () => startServiceOf(name, own, peers));
      const envoy = await Victim.start(name, () => startGateway(shape, own, ports));
      return new Gateway(letter, own, envoy, service, seed);
    };
    const [a, b] = await Promise.all([startOne("a", await building), startOne("b")]);
    return new System(folder, { a, b }, { gpu, small, public: last }, redis);
  }

  victim(name: VictimName): Victim {
    if (name === "gpu" || name === "small") return this.backends[name];
    if (name === "redis") return this.redis;
    if (name === "gateway-b") return this.gateways.b.envoy;
    return this.gateways[name === "service-a" ? "a" : "b"].service;
  }

  get victims(): Victim[] {
    const { a, b } = this.gateways;
    return [a.envoy, b.envoy, a.service, b.service, ...Object.values(this.backends), this.redis];
  }

  /** Of all gateways and backends, by time. */
  get transitions(): Transition[] {
    const logs = letters.flatMap((letter) => Object.values(this.gateways[letter].transitions).flat());
    return logs.flatMap((log) => log.refresh()).sort((a, b) => a.atMs - b.atMs);
  }

  arrivalsFile(name: BackendName): string {
    return arrivalsFile(this.folder, name);
  }

  get accessLogFile(): string {
    return accessLogFile(this.folder);
  }

  async stop(): Promise<void> {
    for (const victim of this.victims) await victim.stop();
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function arrivalsFile(folder: string, name: BackendName): string {
  return join(folder, `${name}.jsonl`);
}

function accessLogFile(folder: string): string {
  return join(folder, "access.log");
}

async function freePorts(): Promise<GatewayPorts> {
  return {
    clients: await freePort(),
    admin: await freePort(),
    grpc: await freePort(),
    http: await freePort(),
    control: await freePort(),
  };
}
