// How a backend stands, as the service is told: a `BackendReport` of proto/llm_breaker/v1/sync.proto.
import { subtractSaturating } from "../breaker/arithmetic";
import { transitionTo } from "../breaker/history";
import { livePermits } from "../breaker/permits";
import { stageCap } from "../breaker/ramp";
import { BackendRecord, Bucket, bucketAt, HISTORY_SIZE, Transition } from "../breaker/record";
import { State } from "../breaker/state";
import { advanceWindow } from "../breaker/window";
import { ProtoWriter } from "../bytes/proto-writer";
import { readCounter } from "../host/metrics";
import { ageMs, kvCacheUse, readLoad, waiting } from "../loads";
import { BackendMetrics } from "../policy/backend-metrics";
import { Backend } from "../policy/policy";
import { latency, readLatency } from "../trends";
import { Told } from "./told";

const SECOND_MS: u64 = 1000;

/**
 * Writes one report as `field` of the message that is being written.
 * @param record a copy, whose window is moved to now
 * @param told what the service has told last
 */
export function putReport(
  writer: ProtoWriter,
  field: u32,
  backend: Backend,
  record: BackendRecord,
  told: Told,
  now: u64,
): void {
  advanceWindow(record, now);
  const start = writer.begin(field);
  writer.bytes(1, backend.aliasText.ptr, backend.aliasText.length);
  putState(writer, backend, record, now);
  if (told.isOverridden(now)) putOverride(writer, told, now);
  putWindow(writer, record);
  putSeconds(writer, record, told.askedMs, now);
  putTransitions(writer, record, told.acknowledged, now);
  writer.number(17, livePermits(record, now));
  if (record.state === State.HALF_OPEN) writer.number(18, stageCap(record, backend.breaker));
  writer.number(19, backend.breaker.probeLeaseMs);
  writer.number(20, backend.probe.firstTokenMaxMs);
  putCounters(writer, backend.metrics);
  if (readLoad(backend, now)) putLoad(writer);
  if (readLatency(backend, now)) putLatency(writer);
  writer.finish(start);
}

function putState(writer: ProtoWriter, backend: Backend, record: BackendRecord, now: u64): void {
  writer.number(2, record.state);
  writer.number(3, positive(record.stage));
  writer.number(4, record.generation);
  writer.number(5, positive(record.openings));
  writer.number(6, positive(record.lastCause));
  writer.number(7, subtractSaturating(now, record.stateSinceMs));
  if (record.state === State.OPEN) writer.number(8, subtractSaturating(record.openUntilMs, now));
  writer.flag(9, record.isEvidence !== 0);
  writer.number(10, record.track);
  writer.number(11, backend.breaker.mode);
  writer.number(12, backend.policyMode);
}

function putOverride(writer: ProtoWriter, told: Told, now: u64): void {
  const start = writer.begin(13);
  writer.number(1, positive(told.mode));
  writer.number(2, told.overrideUntilMs - now);
  writer.number(3, told.overrideVersion);
  writer.flag(4, told.isWithdrawn !== 0);
  writer.bytes(5, told.who, told.whoLength);
  writer.bytes(6, told.why, told.whyLength);
  writer.finish(start);
}

function putWindow(writer: ProtoWriter, record: BackendRecord): void {
  const start = writer.begin(14);
  writer.number(1, record.totalCalls);
  writer.number(2, record.totalFailures);
  writer.number(3, record.totalWeightedFailures);
  writer.number(4, record.totalBackpressure);
  writer.number(5, record.totalOutOfMemory);
  writer.number(6, record.totalFirstTokens);
  writer.number(7, record.totalSlowCalls);
  writer.number(8, positive(record.consecutiveFailures));
  writer.finish(start);
}

/** The seconds that were not over yet when the service was told last; those in which nothing happened are left out. */
function putSeconds(writer: ProtoWriter, record: BackendRecord, toldUntilMs: u64, now: u64): void {
  const headMs = record.headStartMs;
  const count = record.bucketCount;
  for (let back = count - 1; back > 0; back--) {
    const startMs = subtractSaturating(headMs, <u64>back * SECOND_MS);
    if (startMs + SECOND_MS <= toldUntilMs) continue;
    const at = record.head - back;
    const bucket = bucketAt(record, at < 0 ? at + count : at);
    if (isEmpty(bucket)) continue;
    putSecond(writer, bucket, subtractSaturating(now, startMs));
  }
}

function isEmpty(bucket: Bucket): bool {
  return (bucket.calls | bucket.backpressure | bucket.firstTokens) === 0;
}

function putSecond(writer: ProtoWriter, bucket: Bucket, ageMs: u64): void {
  const start = writer.begin(15);
  writer.number(1, ageMs);
  writer.number(2, bucket.calls);
  writer.number(3, bucket.failures);
  writer.number(4, bucket.weightedFailures);
  writer.number(5, bucket.backpressure);
  writer.number(6, bucket.outOfMemory);
  writer.number(7, bucket.firstTokens);
  writer.number(8, bucket.slowCalls);
  writer.finish(start);
}

function putTransitions(writer: ProtoWriter, record: BackendRecord, acknowledged: u32, now: u64): void {
  for (let i = 1; i <= HISTORY_SIZE; i++) {
    const generation = record.generation - <u32>(HISTORY_SIZE - i);
    // Generations go on at 0 after four billion; what the service knows is never ahead of the record.
    if (<i32>(generation - acknowledged) <= 0) continue;
    const transition = transitionTo(record, generation);
    if (transition) putTransition(writer, transition, now);
  }
}

function putTransition(writer: ProtoWriter, transition: Transition, now: u64): void {
  const start = writer.begin(16);
  writer.number(1, transition.generation);
  writer.number(2, positive(transition.from));
  writer.number(3, positive(transition.to));
  writer.number(4, positive(transition.stage));
  writer.number(5, positive(transition.cause));
  writer.number(6, positive(transition.openings));
  writer.number(7, subtractSaturating(now, transition.atMs));
  writer.number(8, transition.waitMs);
  writer.number(9, transition.calls);
  writer.number(10, transition.weightedFailures);
  writer.number(11, positive(transition.consecutiveFailures));
  writer.finish(start);
}

function putCounters(writer: ProtoWriter, metrics: BackendMetrics): void {
  const start = writer.begin(21);
  writer.number(1, readCounter(metrics.permitted));
  writer.number(2, readCounter(metrics.refused));
  writer.number(3, readCounter(metrics.limited));
  writer.number(4, readCounter(metrics.shed));
  writer.number(5, readCounter(metrics.diverted));
  writer.number(6, readCounter(metrics.success));
  writer.number(7, readCounter(metrics.failure));
  writer.number(8, readCounter(metrics.backpressure));
  writer.number(9, readCounter(metrics.neutral));
  writer.number(10, readCounter(metrics.late));
  writer.number(11, readCounter(metrics.canaries));
  writer.number(12, readCounter(metrics.probes));
  writer.number(13, readCounter(metrics.opened));
  writer.finish(start);
}

function putLoad(writer: ProtoWriter): void {
  const start = writer.begin(22);
  writer.number(1, kvCacheUse);
  writer.number(2, waiting);
  writer.number(3, ageMs);
  writer.finish(start);
}

function putLatency(writer: ProtoWriter): void {
  const start = writer.begin(23);
  writer.number(1, latency.samples);
  writer.number(2, latency.p50Ms);
  writer.number(3, latency.p99Ms);
  writer.number(4, latency.judgedPercentile);
  writer.number(5, latency.judgedMs);
  writer.number(6, latency.baselineMs);
  writer.finish(start);
}

/** What lies in shared data may be any bytes. */
function positive(value: i32): u64 {
  return <u64>max(value, 0);
}
