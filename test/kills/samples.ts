import { readdirSync, readFileSync } from "node:fs";
import type { System } from "./system.js";
import type { Victim } from "./victim.js";

/** What one process held when all was well and calm. */
export interface Sample {
  readonly pid: number;
  readonly megabytes: number;
  readonly descriptors: number;
}

/** Of each process, from calm to calm. */
export class Samples {
  readonly byName = new Map<string, Sample[]>();

  take(system: System): void {
    for (const victim of system.victims) {
      const sample = sampleOf(victim);
      if (sample) this.byName.set(victim.name, [...(this.byName.get(victim.name) ?? []), sample]);
    }
  }
}

function sampleOf({ running }: Victim): Sample | undefined {
  if (!running) return undefined;
  const { pid } = running;
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const megabytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
  return { pid, megabytes, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/** What a process of this name held in the first and the last third of its samples, at the median. */
export function growth(samples: readonly Sample[], side: "megabytes" | "descriptors"): [number, number] {
  const third = Math.max(1, Math.floor(samples.length / 3));
  return [median(samples.slice(0, third), side), median(samples.slice(-third), side)];
}

function median(samples: readonly Sample[], side: "megabytes" | "descriptors"): number {
  const values = samples.map((each) => each[side]).sort((a, b) => a - b);
  return values[values.length >> 1] ?? 0;
}
