import { clamp, incrementSaturating } from "./arithmetic";
import { hasPassed } from "./clock";
import { BreakerConfig, Stage } from "./config";
import { livePermits, takePermit } from "./permits";
import { BackendRecord, MAX_PERMITS } from "./record";
import { Cause, State } from "./state";
import { close, nextStage } from "./transitions";

const LEAST_IDLE_MS: u64 = 5000;
const DEFAULT_STAGE = new Stage(5, 2, 5);

/** HALF_OPEN past its probe: canaries may pass. */
export function isInRamp(record: BackendRecord): bool {
  return record.state === State.HALF_OPEN && record.stage > 0;
}

/** Whether a request may try to be a canary: a permit is free, and it is drawn or none was taken for long. */
export function isDrawn(record: BackendRecord, config: BreakerConfig, now: u64, random: u32): bool {
  const stage = currentStage(record, config);
  if (livePermits(record, now) >= allowedCanaries(record, config)) return false;
  const drawn = <i32>((<u64>random * 100) >> 32) < stage.percent;
  return drawn || hasPassed(record.lastCanaryMs, config.canaryNoDrawAfterMs, now);
}

/** Whether no canary has come for twice as long as the draw is waited for: callers go first. */
export function isIdle(record: BackendRecord, config: BreakerConfig, now: u64): bool {
  const patienceMs = max<u64>(<u64>config.canaryNoDrawAfterMs * 2, LEAST_IDLE_MS);
  return hasPassed(record.lastCanaryMs, patienceMs, now);
}

/** Takes a canary's permit within the stage's cap; its id, or 0. */
export function takeCanary(record: BackendRecord, config: BreakerConfig, now: u64): u32 {
  if (livePermits(record, now) >= allowedCanaries(record, config)) return 0;
  const id = takePermit(record, config.permitTimeoutMs, now);
  if (id !== 0) record.lastCanaryMs = now;
  return id;
}

/** Counts a canary's success; the cause of the transition when it ends the stage. The last stage may be held beyond its end. */
export function countSuccess(record: BackendRecord, config: BreakerConfig, now: u64): i32 {
  const need = neededSuccesses(record, config);
  record.stageSuccesses = min(incrementSaturating(max(record.stageSuccesses, 0)), need);
  if (record.stageSuccesses < need) return Cause.NONE;
  if (record.stage < config.stages.length) {
    nextStage(record, now);
    return Cause.STAGE_PASSED;
  }
  return closeUnlessHeld(record, config, now);
}

/** Closes a ramp whose last stage has its successes and was only held; the cause of the transition. */
export function closeWhenPassed(record: BackendRecord, config: BreakerConfig, now: u64): i32 {
  if (!isInRamp(record) || record.stage < config.stages.length) return Cause.NONE;
  if (record.stageSuccesses < neededSuccesses(record, config)) return Cause.NONE;
  return closeUnlessHeld(record, config, now);
}

/** Canaries in flight at once in this stage of the ramp, over all gateways, as the policy has it. */
export function stageCap(record: BackendRecord, config: BreakerConfig): i32 {
  return clamp(currentStage(record, config).maxConcurrent, 1, MAX_PERMITS);
}

function closeUnlessHeld(record: BackendRecord, config: BreakerConfig, now: u64): i32 {
  if (config.isClosingHeld) return Cause.NONE;
  close(record, now, Cause.RAMP_COMPLETE);
  return Cause.RAMP_COMPLETE;
}

/** A push may have shortened the list under a running ramp: it goes on with the last stage. */
function currentStage(record: BackendRecord, config: BreakerConfig): Stage {
  const count = config.stages.length;
  return count === 0 ? DEFAULT_STAGE : config.stages[clamp(record.stage, 1, count) - 1];
}

function neededSuccesses(record: BackendRecord, config: BreakerConfig): i32 {
  return max(currentStage(record, config).successes, 1);
}

/** Of the stage's cap what the group has left to this gateway. */
function allowedCanaries(record: BackendRecord, config: BreakerConfig): i32 {
  const cap = stageCap(record, config);
  return config.rampShare < 0 ? cap : min(cap, config.rampShare);
}
