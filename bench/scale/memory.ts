import { readFileSync } from "node:fs";
import { guardBytes, sampleMemory } from "../soak/memory.js";
import type { Stand } from "./stand.js";

const bytesPerMb = 1 << 20;
const bytesPerKb = 1 << 10;

/** What one Envoy holds. */
export interface StandMemory {
  readonly name: string;
  readonly liveStreams: number;
  /** Bytes resident in the whole process. */
  readonly resident: number;
  /** Bytes resident in the linear memories of all VMs. */
  readonly vmResident: number;
  /** Their size: it grows by doubling, so most of a step may be room that nobody has touched. */
  readonly vmSize: number;
}

export async function measureStreamMemory(stands: readonly Stand[]): Promise<StandMemory[]> {
  const taken: StandMemory[] = [];
  for (const { variant, envoy } of stands) {
    const { rss, wasm } = await sampleMemory(envoy);
    taken.push({
      name: variant.name,
      liveStreams: variant.liveStreams ?? 0,
      resident: rss * bytesPerMb,
      vmResident: vmResidentBytes(readFileSync(`/proc/${envoy.pid}/smaps`, "latin1")),
      vmSize: wasm * bytesPerMb,
    });
  }
  return taken;
}

/** Each linear memory is what is readable and writable right before a guard. */
export function vmResidentBytes(smaps: string): number {
  let total = 0;
  let resident = 0;
  let isWritable = false;
  for (const line of smaps.split("\n")) {
    const [, from, to, rights] = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) /.exec(line) ?? [];
    if (from !== undefined && to !== undefined) {
      const size = Number.parseInt(to, 16) - Number.parseInt(from, 16);
      if (rights === "---p" && size >= guardBytes && isWritable) total += resident;
      isWritable = rights === "rw-p";
      resident = 0;
    }
    const kilobytes = /^Rss:\s+(\d+) kB/.exec(line)?.[1];
    if (kilobytes !== undefined) resident = Number(kilobytes) * bytesPerKb;
  }
  return total;
}
