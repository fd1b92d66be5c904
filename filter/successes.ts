// What goes well changes nothing at once: successes are gathered in this VM, and filed by its tick, or before the first outcome that
// may change something (docs/decisions/0036). So most requests end without an update of the record that all workers share. But one
// that comes amid failures in a row, of whichever worker, ends them at once; gathered ones came before such failures, and end none.
import { announce } from "./announce";
import { onSuccesses, VERDICT_LATE } from "./breaker/breaker";
import { BackendRecord } from "./breaker/record";
import { nowMs, random32 } from "./host/clock";
import { add, increment } from "./host/metrics";
import { MAX_TRIES } from "./host/shared-data";
import { Backend } from "./policy/policy";
import { commit, readRecord } from "./records";
import { isToldCalm } from "./steady";

/** Successes are of one generation: those of an earlier one are filed before the first of the next. */
export function noteSuccess(backend: Backend, generation: u32): void {
  const facts = backend.facts;
  if (facts.successGeneration !== generation) flushSuccesses(backend, nowMs());
  facts.successGeneration = generation;
  facts.successes++;
  if (!isToldCalm(backend)) fileGathered(backend, nowMs(), true);
}

/** Files what was gathered while no failures in a row were told. */
export function flushSuccesses(backend: Backend, now: u64): void {
  fileGathered(backend, now, false);
}

function fileGathered(backend: Backend, now: u64, endsStreak: bool): void {
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
