// What goes well changes nothing at once: successes are gathered in this VM, and filed by its tick, or before the first outcome that
// may change something (docs/decisions/0036). So most requests end without an update of the record that all workers share. But one
// that comes amid failures in a row, of whichever worker, ends them at once; gathered ones came before such failures, and end none;
// nor does one that began before them, where all that began since has failed (docs/decisions/0042).
import { announce } from "./announce";
import { onSuccesses, VERDICT_LATE } from "./breaker/breaker";
import { BackendRecord } from "./breaker/record";
import { nowMs, random32 } from "./host/clock";
import { add, increment } from "./host/metrics";
import { MAX_TRIES } from "./host/shared-data";
import { Backend } from "./policy/policy";
import { commit, readRecord } from "./records";
import { isToldCalm } from "./steady";

/**
 * Successes are of one generation: those of an earlier one are filed before the first of the next.
 * @returns false amid failures in a row: then it is to be filed at once
 */
export function noteSuccess(backend: Backend, generation: u32): bool {
  const facts = backend.facts;
  if (facts.successGeneration !== generation) flushSuccesses(backend, nowMs());
  facts.successGeneration = generation;
  facts.successes++;
  return isToldCalm(backend);
}

/**
 * Files what was gathered, its last one amid failures in a row.
 * @param latestMs when the latest call began of which it is not known that it failed
 */
export function fileAmidFailures(backend: Backend, now: u64, latestMs: u64): void {
  fileGathered(backend, now, latestMs);
}

/** Files what was gathered while no failures in a row were told. */
export function flushSuccesses(backend: Backend, now: u64): void {
  fileGathered(backend, now, 0);
}

function fileGathered(backend: Backend, now: u64, latestMs: u64): void {
  const facts = backend.facts;
  const calls = facts.successes;
  if (calls === 0) return;
  facts.successes = 0;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const ptr = readRecord(backend, now);
    if (ptr === 0) break;
    const record = changetype<BackendRecord>(ptr);
    const from = record.state;
    const generation = facts.successGeneration;
    const endsStreak = latestMs > 0 && latestMs >= record.failingSinceMs;
    const verdict = onSuccesses(record, backend.breaker, now, generation, calls, endsStreak, random32());
    if ((verdict & VERDICT_LATE) !== 0) {
      add(backend.metrics.late, calls);
      return;
    }
    if (!commit(backend, ptr)) continue;
    announce(backend, from, record, verdict, now);
    return;
  }
  increment(backend.metrics.lostUpdates);
}
