import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../../support/repo-root.js";
import { SimulatedClock } from "./clock.js";
import type { HttpCall } from "./http-call.js";
import { MetricStore } from "./metric-store.js";
import { seededRandom } from "./random.js";
import { SharedStore } from "./shared-store.js";
import { Vm } from "./vm.js";

let shippedModule: WebAssembly.Module | undefined;

/** The filter that Envoy loads, compiled once a process. */
export function filterModule(): WebAssembly.Module {
  shippedModule ??= new WebAssembly.Module(readFileSync(join(findRepoRoot(), "build", "llm-breaker.wasm")));
  return shippedModule;
}

/** One Envoy process without its network: clocks, shared data, metrics, and a VM per worker. */
export class World {
  readonly clock = new SimulatedClock();
  readonly metrics = new MetricStore();
  readonly httpCalls: HttpCall[] = [];
  readonly random: () => number;
  /** Whether Envoy takes a call; may run callbacks itself, as a call through a metered cluster does. */
  onHttpCall: (call: HttpCall) => boolean = () => true;
  #nextToken = 1;

  constructor(
    readonly module: WebAssembly.Module = filterModule(),
    seed = 1,
    readonly shared = new SharedStore(),
  ) {
    this.random = seededRandom(seed);
  }

  addVm(): Vm {
    return new Vm(this);
  }

  /** The call's token, or 0 when Envoy did not take it. */
  takeHttpCall(call: Omit<HttpCall, "token">): number {
    const taken = { ...call, token: this.#nextToken++ };
    if (!this.onHttpCall(taken)) return 0;
    this.httpCalls.push(taken);
    return taken.token;
  }
}
