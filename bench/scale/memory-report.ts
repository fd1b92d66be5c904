import { atMost, row, single } from "../report/rows.js";
import type { Row, Table } from "../report/section.js";
import type { StandMemory } from "./memory.js";

const mostVmBytes = 400;
const bytesPerMb = 1 << 20;

export interface MemoryFigures {
  readonly memory: readonly StandMemory[];
  readonly vmBytes: number;
}

/** What one live stream holds: by the growth from none to the most of them. */
export function memoryRows({ memory, vmBytes }: MemoryFigures): Row[] {
  const most = Math.max(...memory.map(({ liveStreams }) => liveStreams));
  if (most === 0) return [];
  const growth = (kind: string, side: "resident" | "vmResident"): number => {
    const without = memory.find(({ name }) => name === kind);
    const withMost = memory.find(({ name }) => name === `${kind}, ${most} streams`);
    if (!without || !withMost) throw new RangeError(`the memory of ${kind} was not measured`);
    return Math.round((withMost[side] - without[side]) / most);
  };
  const simulated = single(Math.round(vmBytes));
  const seen = single(growth("full", "vmResident"));
  const whole = single(growth("full", "resident"));
  return [
    row("memory of a live stream in the VMs, by a simulated Envoy", "bytes", simulated, {
      target: atMost(simulated, mostVmBytes),
    }),
    row("the same, resident in a real Envoy", "bytes", seen, { target: atMost(seen, mostVmBytes) }),
    row("memory of a live stream in all of Envoy", "bytes", whole, {
      beside: { what: "Envoy without us", figure: single(growth("bare", "resident")) },
    }),
  ];
}

export function memoryTable(memory: readonly StandMemory[]): Table {
  const mb = (bytes: number): string => (bytes / bytesPerMb).toFixed(1);
  return {
    caption: "Resident memory in MB",
    columns: ["Envoy", "live streams", "all of Envoy", "the VMs", "the VMs, with what is only reserved"],
    rows: memory.map(({ name, liveStreams, resident, vmResident, vmSize }) => {
      return [name, String(liveStreams), mb(resident), mb(vmResident), mb(vmSize)];
    }),
  };
}
