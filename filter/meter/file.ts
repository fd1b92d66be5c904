// The end of an attempt: its outcome is filed once, with what it cost.
import { Outcome } from "../breaker/outcome";
import { nowMs } from "../host/clock";
import { increment } from "../host/metrics";
import { BackendMetrics } from "../policy/backend-metrics";
import { Failure } from "../policy/failure";
import { Backend } from "../policy/policy";
import { fileOutcome } from "../records";
import { fileAmidFailures, flushSuccesses, noteSuccess } from "../successes";
import { noteSlowAnswer } from "./facts";
import {
  answerOf,
  backendOf,
  chainOf,
  latestUnfailedMs,
  MeterSlot,
  Origin,
  Phase,
  Reading,
  requestOf,
} from "./slot";
import { tellUsage } from "./usage";

/** Files the outcome; only the first call of an attempt counts. A probe's verdict is its sender's to file. */
export function file(slot: MeterSlot, outcome: i32, failure: Failure): void {
  if (slot.phase === Phase.DONE) return;
  slot.phase = Phase.DONE;
  if (slot.origin !== Origin.USER) return;
  // A health page or a list of models is served while the engine behind it is dead: no sign of life.
  if (outcome === Outcome.SUCCESS && !requestOf(slot).isPost) outcome = Outcome.NEUTRAL;
  const backend = backendOf(slot);
  count(backend.metrics, outcome);
  if (backend.promptPrice + backend.completionPrice > 0) spend(slot, backend);
  if (chainOf(slot).limits) tellUsage(slot);
  if (outcome === Outcome.SUCCESS && backend.slowTokenTimeMs > 0) noteSlowAnswer(slot);
  // A canary that was served late is no vote: it would close a backend that is as slow as when it was opened.
  if (outcome === Outcome.SUCCESS && slot.permit !== 0 && slot.wasSlow) outcome = Outcome.NEUTRAL;
  // A success in Closed moves no deadline, and its bucket is a second wide: it can wait for the tick,
  // as long as no worker has failures in a row.
  if (outcome === Outcome.SUCCESS && slot.permit === 0) {
    if (!noteSuccess(backend, slot.generation)) fileAmidFailures(backend, nowMs(), latestUnfailedMs(slot));
    return;
  }
  const now = nowMs();
  const weight = unchecked(backend.rules.weights[failure]);
  const isTold = outcome === Outcome.BACKPRESSURE && slot.retryAfter > 0;
  const retryAfterMs = isTold ? <u32>slot.retryAfter * 1000 : 0;
  if (outcome !== Outcome.NEUTRAL) flushSuccesses(backend, now);
  fileOutcome(backend, now, slot.generation, slot.permit, outcome, weight, retryAfterMs);
}

function count(metrics: BackendMetrics, outcome: i32): void {
  if (outcome === Outcome.SUCCESS) increment(metrics.success);
  else if (outcome === Outcome.NEUTRAL) increment(metrics.neutral);
  else if (outcome === Outcome.BACKPRESSURE) increment(metrics.backpressure);
  else increment(metrics.failure);
}

/** What the answer cost, by its own usage; a stream that told none is taken at one token an event. */
function spend(slot: MeterSlot, backend: Backend): void {
  if (slot.reading !== Reading.EVENTS && slot.reading !== Reading.JSON) return;
  const answer = answerOf(slot);
  const events = slot.reading === Reading.EVENTS ? <i32>answer.events : 0;
  const prompt = answer.promptTokens >= 0 ? answer.promptTokens : max(requestOf(slot).promptTokens, 0);
  const completion = answer.completionTokens >= 0 ? answer.completionTokens : events;
  backend.facts.spend += <f64>prompt * backend.promptPrice + <f64>completion * backend.completionPrice;
}
