import assert from "node:assert/strict";
import type { World } from "./host/world.js";

const layoutVersion = 0x4c420004;

/** What the tests read of a backend's record in shared data; filter/breaker/record.ts is its home. */
export interface RecordFacts {
  readonly state: "CLOSED" | "OPEN" | "HALF_OPEN";
  readonly generation: number;
  readonly successes: number;
  readonly failures: number;
  /** Half-open permits that are taken. */
  readonly permits: number;
}

export function readRecord(world: World, alias: string): RecordFacts {
  const bytes = world.shared.peek(`llm.breaker/backend/${alias}`);
  assert.ok(bytes, `no record of ${alias}`);
  assert.equal(
    bytes.readUInt32LE(0),
    layoutVersion,
    "the record's layout changed: bring this reader up to date",
  );
  const state = (["CLOSED", "OPEN", "HALF_OPEN"] as const)[bytes.readInt32LE(96)];
  assert.ok(state);
  let permits = 0;
  for (let index = 0; index < 16; index++) {
    if (bytes.readUInt32LE(256 + index * 16 + 8) !== 0) permits++;
  }
  return {
    state,
    generation: bytes.readUInt32LE(104),
    successes: bytes.readUInt32LE(144) - bytes.readUInt32LE(148),
    failures: bytes.readUInt32LE(148),
    permits,
  };
}
