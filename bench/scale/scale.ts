// Whether a request costs the same with many live streams, buckets, backends and workers, and what a live stream holds in memory.
import { Cell, cpuShare } from "../cell.js";
import { chatRequest } from "../load/requests.js";
import { machine } from "../machine.js";
import type { Measured } from "../report/section.js";
import { measureInTurns } from "../turns.js";
import { measureStreamMemory } from "./memory.js";
import { scaleResult } from "./report.js";
import { type Scales, Stands, variantsOf } from "./stand.js";
import { vmBytesPerStream } from "./vm-bytes.js";

export interface ScaleSettings {
  /** Folder of the filter's modules. */
  readonly modules: string;
  /** In each cell, over all blocks. */
  readonly requests: number;
  readonly blocks: number;
  readonly say: (line: string) => void;
  readonly scales?: Scales;
}

const allScales: Scales = {
  liveStreams: [1000, 5000, 10_000],
  buckets: [10, 60, 120],
  backends: [1, 50, 200],
  workers: [2, 4],
};

const connectionsPerWorker = 8;
const mostWarmUpRequests = 3000;
const simulatedStreams = 10_000;
const idlePeriodMs = 1500;
const tinyRequest = chatRequest("tiny", 20, false);

export async function measureScale(settings: ScaleSettings): Promise<Measured> {
  const { modules, requests, blocks, say, scales = allScales } = settings;
  const stands = await Stands.start(modules, variantsOf(scales), say);
  try {
    const idle = new Map<number, number[]>();
    const cells = stands.all.map(({ variant, envoy, port }) => {
      const isFull = variant.name.startsWith("full");
      const expect = { status: 200, ...(isFull && { head: "x-llm-breaker-backend: gpu" }) };
      const connections = connectionsPerWorker * (variant.workers ?? 1);
      const load = { port, request: tinyRequest, expect, connections };
      return new Cell(variant.name, envoy.pid, load, () => idle.get(envoy.pid)?.at(-1) ?? 0);
    });
    // Each worker's VMs have code to compile.
    for (const [at, cell] of cells.entries()) {
      const workers = stands.all[at]?.variant.workers ?? 1;
      await cell.warmUp(Math.min(mostWarmUpRequests, requests) * workers);
    }
    const memory = await measureStreamMemory(stands.all);
    const prepare = async (): Promise<void> => {
      const shares = stands.all.map(async ({ envoy: { pid } }) => {
        const share = await cpuShare(pid, idlePeriodMs);
        idle.set(pid, [...(idle.get(pid) ?? []), share]);
      });
      await Promise.all(shares);
    };
    await measureInTurns(cells, { requests, blocks, say, prepare });
    for (const cell of cells) cell.close();
    stands.requireLive();
    const lost = await lostUpdates(stands);
    const idlePercent = stands.all.map(({ variant, envoy }): [string, number[]] => {
      return [variant.name, (idle.get(envoy.pid) ?? []).map((share) => share * 100)];
    });
    const { raw, section } = scaleResult({
      scales,
      cpu: new Map(cells.map((cell) => [cell.name, cell.blocks])),
      idlePercent: new Map(idlePercent),
      memory,
      vmBytes: vmBytesPerStream(modules, simulatedStreams),
      lostUpdates: lost,
    });
    return { raw: { ...raw, machine: await machine() }, section };
  } finally {
    await stands.stop();
  }
}

/** Updates given up since too many races were lost in a row, over all Envoys. */
async function lostUpdates(stands: Stands): Promise<number> {
  let total = 0;
  for (const { envoy } of stands.all) {
    for (const count of (await envoy.stats("llm_breaker.*lost_updates")).values()) total += count;
  }
  return total;
}
