import { setTimeout as delay } from "node:timers/promises";
import type { RunningEnvoy } from "../../test/support/envoy.js";
import type { EnvoyConfig } from "../../test/support/envoy-config.js";
import type { Fleet } from "../fleet.js";
import { Caller, type LoadSettings } from "../load/caller.js";
import { Callgrind } from "./callgrind.js";

/** Until V8 has compiled what is hot for good. */
const warmUpRequests = 1500;
const settleRequests = 100;
const idleMs = 1100;
const readyTimeoutMs = 240_000;

interface CountSettings {
  /** Requests of a block; or for how long they are sent. */
  readonly requests: number | { readonly ms: number };
  readonly blocks: number;
}

/** An Envoy under valgrind. Thousands of requests are not needed: one makes nearly the same instructions each time. */
export class CountedEnvoy {
  readonly envoy: RunningEnvoy;
  readonly #callgrind: Callgrind;
  #isWarm = false;

  private constructor(envoy: RunningEnvoy, callgrind: Callgrind) {
    this.envoy = envoy;
    this.#callgrind = callgrind;
  }

  static async start(fleet: Fleet, config: EnvoyConfig, upstreamPort?: number): Promise<CountedEnvoy> {
    const callgrind = new Callgrind();
    const settings = {
      ...{ under: callgrind.command, readyTimeoutMs },
      ...(upstreamPort !== undefined && { upstreamPort }),
    };
    return new CountedEnvoy(await fleet.addEnvoy(config, settings), callgrind);
  }

  /**
   * Instructions a request, a figure a block; those that Envoy executes without any are taken off. Where these are many, requests are best
   * sent for whole seconds: it is in these that ticks come.
   */
  async count(load: LoadSettings, { requests, blocks }: CountSettings): Promise<number[]> {
    const { pid } = this.envoy;
    const caller = new Caller(load);
    if (!this.#isWarm) await caller.send(warmUpRequests);
    this.#isWarm = true;
    this.#callgrind.start(pid);
    await caller.send(settleRequests);
    const counts: number[] = [];
    for (let block = 0; block < blocks; block++) {
      const idle = await this.#countIdle(typeof requests === "number" ? idleMs : requests.ms);
      const startMs = performance.now();
      this.#callgrind.reset(pid);
      const sent = typeof requests === "number" ? requests : await caller.sendFor(requests.ms);
      if (typeof requests === "number") await caller.send(requests);
      const count = await this.#callgrind.read(pid);
      counts.push((count - idle * (performance.now() - startMs)) / sent);
    }
    this.#callgrind.pause(pid);
    caller.close();
    return counts;
  }

  async stop(): Promise<void> {
    await this.envoy.stop();
    this.#callgrind.close();
  }

  /** Instructions of a millisecond without requests: ticks go by the clock, which valgrind does not slow down. */
  async #countIdle(periodMs: number): Promise<number> {
    const { pid } = this.envoy;
    const startMs = performance.now();
    this.#callgrind.reset(pid);
    await delay(periodMs);
    return (await this.#callgrind.read(pid)) / (performance.now() - startMs);
  }
}
