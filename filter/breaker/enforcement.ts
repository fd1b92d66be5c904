import { addSaturating } from "./arithmetic";
import { BreakerConfig, TRIGGER_COUNT, Trigger } from "./config";
import { isMoving } from "./mode";
import { BackendRecord, quietUntilMs, setQuietUntilMs } from "./record";
import { Cause } from "./state";
import { open } from "./transitions";

/** Set in a verdict when the outcome came too late to count: of an earlier generation, or on a dead permit. */
export const VERDICT_LATE: i32 = 0x100;

/** Set in a verdict whose trigger tripped and moved nothing: the draw or the mode left it at a report. */
export const VERDICT_REPORTED: i32 = 0x200;

/** The more a trigger tells of the reason, the earlier it has the word. */
const MOST_TELLING_FIRST: StaticArray<i32> = [
  Trigger.ENGINE_FATAL,
  Trigger.OUT_OF_MEMORY,
  Trigger.CONSECUTIVE_FAILURES,
  Trigger.FAILURE_RATE,
  Trigger.FAILURE_COUNT,
  Trigger.SLOW_CALL_RATE,
  Trigger.CONSECUTIVE_SLOW_CALLS,
  Trigger.BACKPRESSURE,
  Trigger.LATENCY_DRIFT,
  Trigger.COST_RATE,
];

/**
 * Draws for each trigger that has tripped whether it is enforced, once per detection as Envoy does. The first that is
 * opens the backend. One that is not is reported, and quiet for a window's length: otherwise each further call would be
 * one more draw, and any percentage but 0 would soon be 100.
 * @param tripped a set of `Trigger`s
 * @param random any u32: the draw and the wait's jitter
 * @returns a verdict
 */
export function settle(
  record: BackendRecord,
  config: BreakerConfig,
  now: u64,
  tripped: u32,
  random: u32,
): i32 {
  let verdict: i32 = Cause.NONE;
  if (tripped === 0) return verdict;
  if (isMoving(config.mode)) endForcedQuiet(record);
  for (let i = 0; i < TRIGGER_COUNT; i++) {
    const trigger = unchecked(MOST_TELLING_FIRST[i]);
    if ((tripped & (1 << trigger)) === 0 || quietUntilMs(record, trigger) > now) continue;
    const cause = causeOf(trigger);
    if (isMoving(config.mode) && isDrawn(config, trigger, random)) {
      open(record, config, now, cause, random);
      return cause;
    }
    beQuiet(record, config, now, trigger);
    if (verdict === Cause.NONE) verdict = cause | VERDICT_REPORTED;
  }
  return verdict;
}

function beQuiet(record: BackendRecord, config: BreakerConfig, now: u64, trigger: i32): void {
  const windowMs = <u64>max(config.slidingWindowSize, 1) * 1000;
  setQuietUntilMs(record, trigger, addSaturating(now, windowMs));
  if (!isMoving(config.mode)) record.isQuietByMode = 1;
}

/** What a forced mode left at a report no draw has spared: once that mode is over, the next call is judged anew. */
function endForcedQuiet(record: BackendRecord): void {
  if (record.isQuietByMode === 0) return;
  record.isQuietByMode = 0;
  for (let trigger = 0; trigger < TRIGGER_COUNT; trigger++) setQuietUntilMs(record, trigger, 0);
}

function isDrawn(config: BreakerConfig, trigger: i32, random: u32): bool {
  const percent: u64 = trigger < config.enforcing.length ? config.enforcing[trigger] : 100;
  return (<u64>scatter(random, trigger) * 100) >> 32 < percent;
}

/** Murmur3's last step: the draws of triggers that trip together, and the wait's jitter, are independent of each other. */
function scatter(random: u32, trigger: i32): u32 {
  let x = random + 0x9e3779b9 * <u32>(trigger + 1);
  x = (x ^ (x >> 16)) * 0x85ebca6b;
  x = (x ^ (x >> 13)) * 0xc2b2ae35;
  return x ^ (x >> 16);
}

function causeOf(trigger: i32): i32 {
  switch (trigger) {
    case Trigger.FAILURE_RATE:
      return Cause.FAILURE_RATE;
    case Trigger.SLOW_CALL_RATE:
      return Cause.SLOW_CALL_RATE;
    case Trigger.CONSECUTIVE_FAILURES:
      return Cause.CONSECUTIVE_FAILURES;
    case Trigger.FAILURE_COUNT:
      return Cause.FAILURE_COUNT;
    case Trigger.LATENCY_DRIFT:
      return Cause.LATENCY_DRIFT;
    case Trigger.COST_RATE:
      return Cause.COST_RATE;
    case Trigger.ENGINE_FATAL:
      return Cause.ENGINE_FATAL;
    case Trigger.OUT_OF_MEMORY:
      return Cause.OUT_OF_MEMORY;
    case Trigger.CONSECUTIVE_SLOW_CALLS:
      return Cause.CONSECUTIVE_SLOW_CALLS;
    default:
      return Cause.BACKPRESSURE;
  }
}
