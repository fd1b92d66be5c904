import type { Layout } from "./layout.js";

/** What the window holds, as running totals or as the sum over its buckets. */
export interface Counts {
  readonly calls: number;
  readonly failures: number;
  readonly backpressure: number;
  readonly outOfMemory: number;
  readonly firstTokens: number;
  readonly slowCalls: number;
}

export interface HeldPermit {
  readonly id: number;
  readonly deadlineMs: number;
}

export interface HistoryEntry {
  readonly atMs: number;
  readonly generation: number;
  readonly from: number;
  readonly to: number;
  readonly stage: number;
  readonly cause: number;
}

/** A record as one reader of the store sees it. */
export interface Snapshot {
  readonly clockMs: number;
  readonly stateSinceMs: number;
  readonly openUntilMs: number;
  readonly probeLeaseUntilMs: number;
  readonly probeOwner: number;
  readonly track: number;
  readonly state: number;
  readonly stage: number;
  readonly generation: number;
  readonly openings: number;
  readonly lastCause: number;
  readonly consecutiveFailures: number;
  readonly stageSuccesses: number;
  readonly totals: Counts;
  readonly sums: Counts;
  /** Taken slots, dead permits' too. */
  readonly permits: readonly HeldPermit[];
  /** From the oldest to the newest. */
  readonly history: readonly HistoryEntry[];
}

export function takeSnapshot(bytes: Uint8Array, layout: Layout): Snapshot {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const u32 = (at: number): number => view.getUint32(at, true);
  // Simulated milliseconds are far below 2^53.
  const u64 = (at: number): number => view.getUint32(at, true) + view.getUint32(at + 4, true) * 0x1_0000_0000;
  return {
    clockMs: u64(layout.clockMs),
    stateSinceMs: u64(layout.stateSinceMs),
    openUntilMs: u64(layout.openUntilMs),
    probeLeaseUntilMs: u64(layout.probeLeaseUntilMs),
    probeOwner: u64(layout.probeOwner),
    track: u64(layout.track),
    state: u32(layout.state),
    stage: u32(layout.stage),
    generation: u32(layout.generation),
    openings: u32(layout.openings),
    lastCause: u32(layout.lastCause),
    consecutiveFailures: u32(layout.consecutiveFailures),
    stageSuccesses: u32(layout.stageSuccesses),
    totals: {
      calls: u32(layout.totalCalls),
      failures: u32(layout.totalFailures),
      backpressure: u32(layout.totalBackpressure),
      outOfMemory: u32(layout.totalOutOfMemory),
      firstTokens: u32(layout.totalFirstTokens),
      slowCalls: u32(layout.totalSlowCalls),
    },
    sums: sumBuckets(layout, u32),
    permits: readPermits(layout, u32, u64),
    history: readHistory(layout, u32, u64),
  };
}

type Read = (at: number) => number;

function sumBuckets(layout: Layout, u32: Read): Counts {
  const sums = { calls: 0, failures: 0, backpressure: 0, outOfMemory: 0, firstTokens: 0, slowCalls: 0 };
  const count = u32(layout.bucketCount);
  for (let index = 0; index < count; index++) {
    const at = layout.buckets + index * layout.bucketSize;
    sums.calls += u32(at + layout.bucketCalls);
    sums.failures += u32(at + layout.bucketFailures);
    sums.backpressure += u32(at + layout.bucketBackpressure);
    sums.outOfMemory += u32(at + layout.bucketOutOfMemory);
    sums.firstTokens += u32(at + layout.bucketFirstTokens);
    sums.slowCalls += u32(at + layout.bucketSlowCalls);
  }
  return sums;
}

function readPermits(layout: Layout, u32: Read, u64: Read): HeldPermit[] {
  const held: HeldPermit[] = [];
  for (let index = 0; index < layout.permitCount; index++) {
    const at = layout.permits + index * layout.permitSize;
    const id = u32(at + layout.permitId);
    if (id !== 0) held.push({ id, deadlineMs: u64(at + layout.permitDeadline) });
  }
  return held;
}

function readHistory(layout: Layout, u32: Read, u64: Read): HistoryEntry[] {
  const entries: HistoryEntry[] = [];
  for (let index = 0; index < layout.historySize; index++) {
    const at = layout.history + index * layout.transitionSize;
    const generation = u32(at + layout.transitionGeneration);
    if (generation === 0) continue;
    entries.push({
      atMs: u64(at + layout.transitionAt),
      generation,
      from: u32(at + layout.transitionFrom),
      to: u32(at + layout.transitionTo),
      stage: u32(at + layout.transitionStage),
      cause: u32(at + layout.transitionCause),
    });
  }
  return entries.sort((one, other) => one.generation - other.generation);
}
