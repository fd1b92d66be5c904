/** The fields that filter/breaker/record.ts has, in the order in which test/filter/records-module.ts tells their places. */
const fields = [
  "bucketCount",
  "clockMs",
  "stateSinceMs",
  "openUntilMs",
  "probeLeaseUntilMs",
  "probeOwner",
  "track",
  "state",
  "stage",
  "generation",
  "openings",
  "lastCause",
  "consecutiveFailures",
  "stageSuccesses",
  "totalCalls",
  "totalFailures",
  "totalBackpressure",
  "totalOutOfMemory",
  "totalFirstTokens",
  "totalSlowCalls",
  "permits",
  "permitSize",
  "permitCount",
  "permitDeadline",
  "permitId",
  "history",
  "transitionSize",
  "historySize",
  "transitionAt",
  "transitionGeneration",
  "transitionFrom",
  "transitionTo",
  "transitionStage",
  "transitionCause",
  "buckets",
  "bucketSize",
  "bucketCalls",
  "bucketFailures",
  "bucketBackpressure",
  "bucketOutOfMemory",
  "bucketFirstTokens",
  "bucketSlowCalls",
] as const;

/** Byte offsets, sizes and counts of the record's parts. */
export type Layout = Readonly<Record<(typeof fields)[number], number>>;

/** Reads the layout that the module tells, so that a field which moves moves here, too. */
export function readLayout(memory: ArrayBuffer, at: number): Layout {
  const places = new Uint32Array(memory, at, fields.length);
  return Object.fromEntries(fields.map((field, index) => [field, places[index]])) as Layout;
}
