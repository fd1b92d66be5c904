// Tells operators of every transition: one log line with its cause and figures, the state's gauge, the counters.
import { figuresOfReport, figuresOfTransition } from "./announce/figures";
import { VERDICT_LATE, VERDICT_REPORTED } from "./breaker/breaker";
import { BackendRecord } from "./breaker/record";
import { Cause, causeName, State, stateName } from "./breaker/state";
import { canChangeCluster } from "./host/envoy-version";
import { Level, log } from "./host/log";
import {
  defineCounter,
  defineGauge,
  defineHistogram,
  increment,
  record as recordMetric,
} from "./host/metrics";
import { BackendMetrics } from "./policy/backend-metrics";
import { ChainMetrics } from "./policy/chain-metrics";
import { Backend, Chain } from "./policy/policy";

/** Defines a backend's Envoy stats in this VM; the host gives equal names one stat for the whole process. */
export function defineMetrics(backend: Backend): void {
  const prefix = "llm_breaker." + backend.alias + ".";
  const metrics: BackendMetrics = backend.metrics;
  metrics.state = defineGauge(prefix + "state");
  metrics.steady = defineGauge(prefix + "steady");
  metrics.permitted = defineCounter(prefix + "permitted");
  metrics.refused = defineCounter(prefix + "refused");
  metrics.success = defineCounter(prefix + "outcome.success");
  metrics.failure = defineCounter(prefix + "outcome.failure");
  metrics.backpressure = defineCounter(prefix + "outcome.backpressure");
  metrics.neutral = defineCounter(prefix + "outcome.neutral");
  metrics.late = defineCounter(prefix + "outcome.late");
  metrics.canaries = defineCounter(prefix + "canaries");
  metrics.probes = defineCounter(prefix + "probes");
  metrics.opened = defineCounter(prefix + "opened");
  metrics.closed = defineCounter(prefix + "closed");
  metrics.lostUpdates = defineCounter(prefix + "lost_updates");
  metrics.holdOverflow = defineCounter(prefix + "hold_overflow");
  metrics.reported = defineCounter(prefix + "reported");
  metrics.slow = defineCounter(prefix + "slow");
  metrics.limited = defineCounter(prefix + "limited");
  metrics.shed = defineCounter(prefix + "shed");
  metrics.diverted = defineCounter(prefix + "diverted");
  metrics.firstToken = defineHistogram(prefix + "first_token_ms");
}

/** The same for a chain. */
export function defineChainMetrics(chain: Chain): void {
  const prefix = "llm_breaker_chain." + chain.name + ".";
  const metrics: ChainMetrics = chain.metrics;
  metrics.requests = defineCounter(prefix + "requests");
  metrics.exhausted = defineCounter(prefix + "exhausted");
  metrics.shed = defineCounter(prefix + "shed");
  metrics.substituted = defineCounter(prefix + "substituted");
  metrics.failed = defineCounter(prefix + "failed");
}

/**
 * Called by each tick of the gate: before Envoy 1.39 the meter's metrics stand below its cluster's name, apart from the gate's,
 * and the gauge without such a name would miss what the meter decides.
 */
export function showState(backend: Backend, record: BackendRecord): void {
  if (!canChangeCluster()) recordMetric(backend.metrics.state, record.state);
}

/** Reports a verdict after its compare-and-swap went through; silent when nothing changed. */
export function announce(backend: Backend, from: i32, record: BackendRecord, verdict: i32, now: u64): void {
  if ((verdict & VERDICT_LATE) !== 0) increment(backend.metrics.late);
  const cause = verdict & 0xff;
  if (cause === Cause.NONE) return;
  if ((verdict & VERDICT_REPORTED) !== 0) {
    increment(backend.metrics.reported);
    log(
      Level.WARN,
      'llm.breaker report {"backend":"' +
        backend.alias +
        '","cause":"' +
        causeName(cause) +
        '","opens":false' +
        figuresOfReport(backend, record, cause, now) +
        "}",
    );
    return;
  }
  // Before Envoy 1.39 only the gate's gauge is the backend's: showState.
  if (canChangeCluster()) recordMetric(backend.metrics.state, record.state);
  if (isOpening(record, cause)) increment(backend.metrics.opened);
  if (record.state === State.CLOSED && from !== State.CLOSED) increment(backend.metrics.closed);
  log(
    Level.WARN,
    'llm.breaker transition {"backend":"' +
      backend.alias +
      '","from":"' +
      stateName(from) +
      '","to":"' +
      stateName(record.state) +
      '","cause":"' +
      causeName(cause) +
      '","stage":' +
      record.stage.toString() +
      ',"generation":' +
      record.generation.toString() +
      ',"openings":' +
      record.openings.toString() +
      ',"waitMs":' +
      (record.state === State.OPEN && record.openUntilMs > now ? record.openUntilMs - now : 0).toString() +
      ',"atMs":' +
      now.toString() +
      figuresOfTransition(backend, record, cause, now) +
      "}",
  );
}

/** The same opening is counted once, though a probe was given back, or the process began anew. */
function isOpening(record: BackendRecord, cause: i32): bool {
  return record.state === State.OPEN && cause !== Cause.PROBE_ABANDONED && cause !== Cause.RESTORED;
}
