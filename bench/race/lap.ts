import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monotonicMs, pause } from "../../demo/clock.js";
import { onlyGiven } from "./given.js";
import { type CallerRecord, callPatiently } from "./patient-caller.js";
import type { Racer, RunningRacer } from "./racer.js";
import type { Scenario } from "./scenario.js";
import { type Planned, warmUpCalls } from "./schedule.js";
import { slotsOf } from "./world/settings.js";
import { type Seen, World } from "./world/world.js";

const warmUps = 24;

/** What one racer did in one scenario. */
export interface Lap {
  readonly racer: string;
  /** The start of the race, monotonic ms. */
  readonly startMs: number;
  readonly callers: readonly CallerRecord[];
  readonly seen: Seen;
}

/** A racer with engines of its own, ready to start. */
export class Lane {
  readonly #racer: Racer;
  readonly #scenario: Scenario;
  readonly #world: World;
  readonly #running: RunningRacer;
  readonly #folder: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  readonly #callers: Promise<CallerRecord>[] = [];

  private constructor(racer: Racer, scenario: Scenario, world: World, running: RunningRacer, folder: string) {
    this.#racer = racer;
    this.#scenario = scenario;
    this.#world = world;
    this.#running = running;
    this.#folder = folder;
  }

  static async prepare(racer: Racer, scenario: Scenario, modules: string, seed: number): Promise<Lane> {
    const folder = mkdtempSync(join(tmpdir(), "llm-breaker-race-"));
    const world = await World.start(scenario.nodes, seed);
    try {
      const { nodes, fallback } = world;
      const { limits } = scenario.callers;
      const slots = slotsOf(scenario.nodes);
      const running = await racer.start({ nodes, fallback, slots, limits, folder, modules });
      const lane = new Lane(racer, scenario, world, running, folder);
      await lane.#warmUp(seed);
      return lane;
    } catch (error) {
      await world.stop();
      rmSync(folder, { recursive: true, force: true });
      throw new Error(`${racer.name} could not start: ${String(error)}`, { cause: error });
    }
  }

  async #warmUp(seed: number): Promise<void> {
    const patient = { ...this.#scenario.callers, retries: 0 };
    for (const call of warmUpCalls(warmUps, seed)) {
      const { served, detail } = await callPatiently(this.#running.port, this.#agent, call, patient);
      if (!served) throw new Error(`a call before the start was not served: ${detail}`);
    }
  }

  send({ call }: Planned): void {
    this.#callers.push(callPatiently(this.#running.port, this.#agent, call, this.#scenario.callers));
  }

  /** Plays what goes wrong, at its times after `startMs`. */
  async playFaults(startMs: number): Promise<void> {
    for (const { at, node, fault } of this.#scenario.steps) {
      await pause(startMs + at * 1000 - monotonicMs());
      await (fault ? this.#world.beginFault(node, fault) : this.#world.endFault(node));
    }
  }

  /** Waits until every caller has its end. */
  async finish(startMs: number): Promise<Lap> {
    const callers = await Promise.all(this.#callers);
    const seen = await this.#world.seen();
    return { racer: this.#racer.name, startMs, callers: onlyGiven(callers, seen), seen };
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.#running.stop();
    await this.#world.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** All lanes at once, the same callers at the same moments. */
export async function race(lanes: readonly Lane[], planned: readonly Planned[]): Promise<Lap[]> {
  const startMs = monotonicMs() + 200;
  const faults = lanes.map((lane) => lane.playFaults(startMs));
  for (const [index, each] of planned.entries()) {
    await pause(startMs + each.atMs - monotonicMs());
    // In turns the first, so that none has the quietest moment each time.
    for (let at = 0; at < lanes.length; at++) lanes[(index + at) % lanes.length]?.send(each);
  }
  await Promise.all(faults);
  return Promise.all(lanes.map((lane) => lane.finish(startMs)));
}
