import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../demo/clock.js";
import type { CallRecord } from "../../demo/load/caller.js";
import type { BreakerState } from "../../demo/story/transitions.js";
import { freePort } from "../support/ports.js";
import { RunningRedis } from "../support/redis.js";
import { startUpstream, type Upstream } from "../support/upstream.js";
import { waitFor } from "../support/wait-for.js";
import { Gateway } from "./gateway.js";
import type { Engine, Meeting } from "./gateway-config.js";
import { Gpu } from "./gpu.js";
import type { Transition } from "./transitions.js";
import { calm, type Weather } from "./weather.js";

/** One member's clock is wrong in every scenario. */
const skewedMember = 2;
const skewMs = 30_000;
const startAtOnce = 2;

interface FleetParts {
  readonly meeting: Meeting;
  readonly gateways: readonly Gateway[];
  readonly gpu: Gpu;
  readonly fallback: Upstream;
  readonly redis: RunningRedis | undefined;
  readonly folder: string;
}

/** Gateways that share one backend, and have a second tier that always works. */
export class Fleet {
  readonly meeting: Meeting;
  readonly gateways: readonly Gateway[];
  readonly gpu: Gpu;
  readonly redis: RunningRedis | undefined;
  readonly startedMs = monotonicMs();

  constructor(private readonly parts: FleetParts) {
    this.meeting = parts.meeting;
    this.gateways = parts.gateways;
    this.gpu = parts.gpu;
    this.redis = parts.redis;
  }

  get numbers(): number[] {
    return this.gateways.map(({ number }) => number);
  }

  /** More than half of all. */
  get majority(): number {
    return Math.floor(this.gateways.length / 2) + 1;
  }

  gateway(number: number): Gateway {
    const gateway = this.gateways[number];
    if (!gateway) throw new Error(`there is no gateway ${number}`);
    return gateway;
  }

  setWeather(weather: Weather): void {
    for (const gateway of this.gateways) gateway.setWeather(weather);
  }

  /** Of these gateways or of all, by time. */
  transitionsSince(sinceMs: number, numbers: readonly number[] = this.numbers): Transition[] {
    return numbers
      .flatMap((number) => this.gateway(number).transitions)
      .filter(({ atMs }) => atMs >= Math.floor(sinceMs))
      .sort((a, b) => a.atMs - b.atMs);
  }

  /** What callers got that began since. */
  callsSince(sinceMs: number): CallRecord[] {
    return this.gateways.flatMap(({ traffic }) =>
      traffic.records.filter(({ startMs }) => startMs >= sinceMs),
    );
  }

  async whenAll(
    state: BreakerState,
    numbers: readonly number[] = this.numbers,
    limitMs = 30_000,
  ): Promise<void> {
    await waitFor(() => this.areAll(state, numbers), limitMs, `${state} at ${numbers}`).catch(
      (error: Error) => {
        const states = numbers.map((number) => `${number} ${this.gateway(number).state}`);
        throw new Error(`${error.message}; they are ${states.join(", ")}`, { cause: error });
      },
    );
  }

  areAll(state: BreakerState, numbers: readonly number[] = this.numbers): boolean {
    return numbers.every((number) => this.gateway(number).state === state);
  }

  /** Everything is as at the start. */
  async calmDown(): Promise<void> {
    this.gpu.work();
    this.setWeather(calm);
    for (const gateway of this.gateways) await gateway.revive();
    await this.whenAll("CLOSED");
    // Whatever was on its way has arrived.
    await sleep(1_000);
    this.gpu.forget();
  }

  async stop(): Promise<void> {
    const { gateways, gpu, fallback, redis, folder } = this.parts;
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await gpu.stop();
    await fallback.stop();
    await redis?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function startFleet(engine: Engine, count: number): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), "llm-breaker-fleet-"));
  const keyFile = join(folder, "peers.key");
  writeFileSync(keyFile, `${randomBytes(32).toString("hex")}\n`);
  const redis = engine === "redis" ? await RunningRedis.start() : undefined;
  const addresses: string[] = [];
  while (addresses.length < count) addresses.push(`127.0.0.1:${await freePort()}`);
  const meeting: Meeting = { engine, keyFile, addresses, redisUrl: redis?.url ?? "" };
  const gpu = await Gpu.start(count);
  const fallback = await startUpstream();
  const gateways: Gateway[] = [];
  const fleet = new Fleet({ meeting, gateways, gpu, fallback, redis, folder });
  try {
    await startGateways(count, meeting, gpu, fallback, gateways);
    await sleep(1_000);
    return fleet;
  } catch (error) {
    await fleet.stop();
    throw error;
  }
}

async function startGateways(
  count: number,
  meeting: Meeting,
  gpu: Gpu,
  fallback: Upstream,
  gateways: Gateway[],
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let number = next++; number < count; number = next++) {
      gateways[number] = await Gateway.start({
        number,
        meeting,
        gpuPort: gpu.port(number),
        fallbackPort: fallback.port,
        clockOffsetMs: number === skewedMember ? skewMs : 0,
      });
    }
  };
  await Promise.all(Array.from({ length: startAtOnce }, work));
}
