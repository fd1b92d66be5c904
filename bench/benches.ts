import { measureChain } from "./chain/chain.js";
import { measureExtproc } from "./extproc/extproc.js";
import { measureFilters } from "./filters/filters.js";
import { measureInstructions } from "./instructions/instructions.js";
import { measureKills } from "./kills/kills.js";
import { measureRace } from "./race/race.js";
import type { Measured } from "./report/section.js";
import { measureScale } from "./scale/scale.js";
import { measureSoak } from "./soak/soak.js";
import { measureStream } from "./stream/stream.js";

export interface BenchSettings {
  /** Folder of the filter's modules. */
  readonly modules: string;
  /** What one of them is differs by benchmark: `counts`. */
  readonly requests: number;
  /** Turns, each measuring every cell once. */
  readonly blocks: number;
  readonly say: (line: string) => void;
}

export interface Bench {
  readonly what: string;
  /** What `requests` counts; absent where it has no meaning. */
  readonly counts?: string;
  readonly requests: number;
  readonly blocks: number;
  /** Smaller, for a report of all that takes minutes. */
  readonly inReport: { readonly requests: number; readonly blocks: number };
  readonly run: (settings: BenchSettings) => Promise<Measured>;
}

const liveStreams = 5000;

/** In the order of the report. */
export const benches: Readonly<Record<string, Bench>> = {
  chain: {
    what: "CPU that the filter chain adds to a request inside Envoy",
    counts: "requests in each cell, over all blocks",
    requests: 36_000,
    blocks: 9,
    inReport: { requests: 21_000, blocks: 7 },
    run: (settings) => measureChain({ ...settings, liveStreams }),
  },
  filters: {
    what: "what admission_control, Lua and the same work in Rust cost beside the breaker",
    counts: "requests in each cell, over all blocks",
    requests: 36_000,
    blocks: 9,
    inReport: { requests: 18_000, blocks: 9 },
    run: measureFilters,
  },
  scale: {
    what: "whether a request costs the same with many streams, buckets, backends and workers; memory of a stream",
    counts: "requests in each cell, over all blocks",
    requests: 36_000,
    blocks: 36,
    inReport: { requests: 12_000, blocks: 12 },
    run: measureScale,
  },
  instructions: {
    what: "instructions a request inside Envoy, by valgrind",
    counts: "requests in each cell, over all blocks",
    requests: 1500,
    blocks: 3,
    inReport: { requests: 300, blocks: 3 },
    run: measureInstructions,
  },
  stream: {
    what: "what reading an event stream adds: CPU a response and event, time to a token",
    counts: "streamed answers in each cell, over all blocks",
    requests: 864,
    blocks: 9,
    inReport: { requests: 384, blocks: 4 },
    run: ({ requests, ...rest }) => measureStream({ ...rest, responses: requests }),
  },
  extproc: {
    what: "what asking the service costs: its CPU a request, a caller's wait",
    counts: "requests in each cell, over all blocks",
    requests: 90_000,
    blocks: 9,
    inReport: { requests: 24_000, blocks: 4 },
    run: measureExtproc,
  },
  race: {
    what: "the outage race: the same callers and faults through us and through what people would use instead",
    requests: 1,
    blocks: 1,
    inReport: { requests: 1, blocks: 1 },
    run: measureRace,
  },
  kills: {
    what: "what callers see of killed and stopped processes, and of VMs that trap",
    counts: "seconds in which faults go on",
    requests: 600,
    blocks: 1,
    inReport: { requests: 30, blocks: 1 },
    run: ({ requests, say }) => measureKills({ seconds: requests, say }),
  },
  soak: {
    what: "whether memory stays flat while half of the callers leave",
    counts: "requests in all; 200000 is enough for a quick look",
    requests: 2_000_000,
    blocks: 1,
    inReport: { requests: 100_000, blocks: 1 },
    run: measureSoak,
  },
};
