import { onOutcome, VERDICT_LATE } from "../../../filter/breaker/breaker";
import { BreakerConfig } from "../../../filter/breaker/config";
import { FULL_WEIGHT, Outcome } from "../../../filter/breaker/outcome";
import { BackendRecord, initRecord, isRecordValid, recordSize } from "../../../filter/breaker/record";
import { allocate } from "../../../filter/host/arena";
import { nowMs, random32 } from "../../../filter/host/clock";
import { resultPtr, resultSize } from "../../../filter/host/result";
import {
  createShared,
  MAX_TRIES,
  readShared,
  sharedCas,
  writeShared,
} from "../../../filter/host/shared-data";
import { Text } from "../../../filter/host/text";

export const config: BreakerConfig = new BreakerConfig();

const KEY = Text.of("bench/backend/gpu");

/** Where there is none yet. */
export function createRecord(): void {
  if (readShared(KEY)) return;
  const size = recordSize(config.slidingWindowSize);
  const fresh = allocate(size);
  if (fresh === 0) return;
  initRecord(fresh, config.slidingWindowSize, nowMs());
  createShared(KEY, fresh, size);
}

/** A copy of the record in scratch memory. */
export function readRecord(): BackendRecord | null {
  if (!readShared(KEY) || !isRecordValid(resultPtr(), resultSize())) return null;
  return changetype<BackendRecord>(resultPtr());
}

export function fileOutcome(generation: u32, isSuccess: bool): void {
  const now = nowMs();
  const outcome = isSuccess ? Outcome.SUCCESS : Outcome.FAILURE;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const record = readRecord();
    if (!record) return;
    const size = resultSize();
    const cas = sharedCas();
    const verdict = onOutcome(record, config, now, generation, 0, outcome, FULL_WEIGHT, 0, random32());
    if ((verdict & VERDICT_LATE) !== 0 || writeShared(KEY, changetype<usize>(record), size, cas)) return;
  }
}
