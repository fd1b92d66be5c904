// How a backend is, in one number that every worker has for a fraction of a record's price (docs/decisions/0036).
import { BackendRecord } from "./breaker/record";
import { State } from "./breaker/state";
import { canChangeCluster } from "./host/envoy-version";
import { readGauge, record as recordMetric } from "./host/metrics";
import { Backend } from "./policy/policy";

/** 0 is what an Envoy says whose stats matcher drops the gauge, as most proxies of meshes do: it must promise nothing. */
enum Steadiness {
  UNKNOWN,
  /** Closed, and the last outcome was a failure. */
  FAILING,
  CALM,
}

/** Called with each record that was written: one that was only read may be old by now. */
export function tellSteadiness(backend: Backend, record: BackendRecord): void {
  let told = Steadiness.UNKNOWN;
  if (record.state === State.CLOSED)
    told = record.consecutiveFailures > 0 ? Steadiness.FAILING : Steadiness.CALM;
  recordMetric(backend.metrics.steady, told);
}

export function isToldClosed(backend: Backend): bool {
  const told = steadiness(backend);
  return told === Steadiness.CALM || told === Steadiness.FAILING;
}

/** Closed, and no failures in a row that a success would end. */
export function isToldCalm(backend: Backend): bool {
  return steadiness(backend) === Steadiness.CALM;
}

/** Before Envoy 1.39 the meter's gauge is another one than the gate's. */
function steadiness(backend: Backend): u64 {
  return canChangeCluster() ? readGauge(backend.metrics.steady) : Steadiness.UNKNOWN;
}
