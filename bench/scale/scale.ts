// Whether a request costs the same with many live streams, buckets, backends and workers, and what a live stream holds in memory.
import { machine } from "../machine.js";
import type { Measured } from "../report/section.js";
import { warnOfFew } from "../turns.js";
import { countInstructions } from "./instructions.js";
import { scaleResult } from "./report.js";
import type { Scales } from "./scales.js";
import { Stands, variantsOf } from "./stand.js";
import { Times } from "./times.js";
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

const timedScales: Scales = {
  liveStreams: [1000, 5000, 10_000],
  buckets: [10, 60, 120],
  backends: [1, 50, 200],
  workers: [2, 4],
};
const mostRounds = 2;
const turnsPerBlock = 2;
const simulatedStreams = 10_000;

export async function measureScale(settings: ScaleSettings): Promise<Measured> {
  const { modules, requests, blocks, say, scales = timedScales } = settings;
  warnOfFew(Math.ceil(requests / blocks), say);
  const instructions = await countInstructions(modules, scales, say);
  const times = new Times();
  const requestsPerTurn = Math.ceil(requests / blocks / turnsPerBlock);
  const rounds = Math.min(mostRounds, blocks);
  for (let round = 0; round < rounds; round++) {
    const ofRound = Math.floor((blocks + round) / rounds);
    const stands = await Stands.start(modules, variantsOf(scales), say);
    try {
      await times.measureRound(stands, { scales, blocks: ofRound, requestsPerTurn, say });
    } finally {
      await stands.stop();
    }
  }
  const vmBytes = vmBytesPerStream(modules, simulatedStreams);
  const { raw, section } = scaleResult({ scales, times, instructions, vmBytes });
  return { raw: { ...raw, machine: await machine() }, section };
}
