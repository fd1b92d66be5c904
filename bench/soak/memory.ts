import { readFileSync } from "node:fs";
import { send } from "../../test/support/client.js";
import type { RunningEnvoy } from "../../test/support/envoy.js";
import { figure } from "../figures.js";

/** Megabytes that an Envoy uses, seen from several sides. */
export interface MemorySample {
  /** Resident, and what of it the kernel has put aside: giving it back must not look like shrinking. */
  readonly rss: number;
  /** Of that without the pages of files, which grow as code is used for the first time. */
  readonly anonymous: number;
  /** Live objects by the allocator's own count: free of its caches. */
  readonly allocated: number;
  /** Linear memories of all wasm VMs. They only grow. */
  readonly wasm: number;
}

const kilobytesPerMb = 1024;
const bytesPerMb = 1 << 20;

/** V8 reserves this much or more behind each linear memory, so that no access needs a check of its bounds. */
export const guardBytes = 4 * 2 ** 30;

export async function sampleMemory(envoy: RunningEnvoy): Promise<MemorySample> {
  const status = readFileSync(`/proc/${envoy.pid}/status`, "latin1");
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  const heap = JSON.parse((await send(`${envoy.adminUrl}/memory`)).text) as { allocated: string };
  const swapped = kilobytes("VmSwap");
  return {
    rss: (kilobytes("VmRSS") + swapped) / kilobytesPerMb,
    anonymous: (kilobytes("RssAnon") + swapped) / kilobytesPerMb,
    allocated: Number(heap.allocated) / bytesPerMb,
    wasm: wasmBytes(readFileSync(`/proc/${envoy.pid}/maps`, "latin1")) / bytesPerMb,
  };
}

/** Envoy has no figure for it: what is readable and writable right before a guard. */
function wasmBytes(maps: string): number {
  let total = 0;
  let before = 0;
  for (const line of maps.split("\n")) {
    const [, from = "0", to = "0", rights] = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/.exec(line) ?? [];
    const size = Number.parseInt(to, 16) - Number.parseInt(from, 16);
    if (rights === "---p" && size >= guardBytes) total += before;
    before = rights === "rw-p" ? size : 0;
  }
  return total;
}

/** The median of each side over samples: single ones hold the streams that happen to be live. */
export function typical(samples: readonly MemorySample[]): MemorySample {
  const median = (side: keyof MemorySample): number =>
    figure(
      samples.map((each) => each[side]),
      2,
    ).median;
  return {
    rss: median("rss"),
    anonymous: median("anonymous"),
    allocated: median("allocated"),
    wasm: median("wasm"),
  };
}
