import { Cell, cpuShare } from "../cell.js";
import { measureStreamMemory, type StandMemory } from "./memory.js";
import { allScales, type Scales, stepsOf } from "./scales.js";
import { loadOf, type Stands } from "./stand.js";

/** Figures by variant, one a block. */
export type Blocks = ReadonlyMap<string, readonly number[]>;

export interface RoundSettings {
  readonly scales: Scales;
  readonly blocks: number;
  readonly requestsPerTurn: number;
  readonly say: (line: string) => void;
}

const mostWarmUpRequests = 3000;
const idlePeriodMs = 3000;

/** What rounds of Envoys have shown. Each round has new ones: two of the same kind may differ by a twentieth, for as long as they live. */
export class Times {
  /** Microseconds of Envoy's CPU a request, by scale: what is compared was measured side by side. */
  readonly cpu = new Map<keyof Scales, Map<string, number[]>>();
  /** Per cent of one CPU without any request. */
  readonly idlePercent = new Map<string, number[]>();
  memory: readonly StandMemory[] = [];
  /** Given up since too many races were lost in a row. */
  lostUpdates = 0;

  async measureRound(stands: Stands, { scales, blocks, requestsPerTurn, say }: RoundSettings): Promise<void> {
    const idle = new Map<string, number>();
    const cells = stands.all.map(({ variant, envoy, port }) => {
      return new Cell(variant.name, envoy.pid, loadOf(variant, port), () => idle.get(variant.name) ?? 0);
    });
    // Each worker's VMs have code to compile.
    for (const [at, cell] of cells.entries()) {
      const workers = stands.all[at]?.variant.workers ?? 1;
      await cell.warmUp(Math.min(mostWarmUpRequests, blocks * requestsPerTurn) * workers);
    }
    if (this.memory.length === 0) this.memory = await measureStreamMemory(stands.all);
    await Promise.all(
      stands.all.map(async ({ variant: { name }, envoy: { pid } }) => {
        const share = await cpuShare(pid, idlePeriodMs);
        idle.set(name, share);
        note(this.idlePercent, name, share * 100);
      }),
    );
    for (let block = 0; block < blocks; block++) {
      await this.#measureBlock(cells, scales, requestsPerTurn);
      say(`block ${block + 1} of ${blocks}`);
    }
    for (const cell of cells) cell.close();
    stands.requireLive();
    this.lostUpdates += await lostUpdates(stands);
  }

  async #measureBlock(cells: readonly Cell[], scales: Scales, requestsPerTurn: number): Promise<void> {
    for (const scale of allScales) {
      const names = new Set(stepsOf(scale, scales).flatMap(({ full, bare }) => [full, bare]));
      const ofScale = this.cpu.get(scale.key) ?? new Map<string, number[]>();
      this.cpu.set(scale.key, ofScale);
      const compared = cells.filter(({ name }) => names.has(name));
      for (const [name, us] of await thereAndBack(compared, requestsPerTurn)) note(ofScale, name, us);
    }
  }
}

/** Each cell twice, in the one order and the other: what drifts meanwhile hits all of them alike. */
async function thereAndBack(cells: readonly Cell[], count: number): Promise<Map<string, number>> {
  const mean = new Map<string, number>();
  for (const cell of [...cells, ...[...cells].reverse()]) {
    mean.set(cell.name, (mean.get(cell.name) ?? 0) + (await cell.measure(count)) / 2);
  }
  return mean;
}

function note(figures: Map<string, number[]>, name: string, value: number): void {
  figures.set(name, [...(figures.get(name) ?? []), value]);
}

async function lostUpdates(stands: Stands): Promise<number> {
  let total = 0;
  for (const { envoy } of stands.all) {
    for (const count of (await envoy.stats("llm_breaker.*lost_updates")).values()) total += count;
  }
  return total;
}
