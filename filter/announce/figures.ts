// What an announcement says of a transition: the numbers of the window, and of the trigger's own measure, as more fields of its JSON.
import { transitionTo } from "../breaker/history";
import { BackendRecord } from "../breaker/record";
import { Cause } from "../breaker/state";
import { Backend } from "../policy/policy";
import { latency, readLatency, readSpend } from "../trends";

/** Hundredths of a failure against calls are percent; one more digit of them. */
const RATE_DIGITS: i32 = 1;
const FACTOR_DIGITS: i32 = 2;
const MONEY_DIGITS: i32 = 6;

/** Of the transition that the record has just made: its window as it was then, since to close empties it. */
export function figuresOfTransition(backend: Backend, record: BackendRecord, cause: i32, now: u64): string {
  const transition = transitionTo(record, record.generation);
  if (!transition) return "";
  const calls = transition.calls;
  const failures = transition.weightedFailures;
  return (
    windowFigures(calls, failures, transition.consecutiveFailures) + measure(backend, record, cause, now)
  );
}

/** Of a trigger that was only reported. */
export function figuresOfReport(backend: Backend, record: BackendRecord, cause: i32, now: u64): string {
  const failures = record.totalWeightedFailures;
  return (
    windowFigures(record.totalCalls, failures, record.consecutiveFailures) +
    measure(backend, record, cause, now)
  );
}

function windowFigures(calls: u32, weightedFailures: u32, consecutiveFailures: i32): string {
  return (
    number("calls", calls) +
    ',"failureRate":' +
    rate(weightedFailures, calls) +
    number("consecutiveFailures", max(consecutiveFailures, 0))
  );
}

/** What the trigger looked at, and its threshold. Opening keeps the window, so it still shows what tripped. */
function measure(backend: Backend, record: BackendRecord, cause: i32, now: u64): string {
  const config = backend.breaker;
  switch (cause) {
    case Cause.FAILURE_RATE:
      return threshold(config.failureRateThreshold);
    case Cause.CONSECUTIVE_FAILURES:
      return threshold(config.consecutiveFailuresThreshold);
    case Cause.FAILURE_COUNT:
      return number("failures", record.totalFailures) + threshold(config.failureCountThreshold);
    case Cause.OUT_OF_MEMORY:
      return number("outOfMemory", record.totalOutOfMemory) + threshold(config.outOfMemoryThreshold);
    case Cause.SLOW_CALL_RATE:
      return (
        number("firstTokens", record.totalFirstTokens) +
        ',"slowCallRate":' +
        rate(<u64>record.totalSlowCalls * 100, record.totalFirstTokens) +
        threshold(config.slowCallRateThreshold)
      );
    case Cause.CONSECUTIVE_SLOW_CALLS:
      return (
        number("consecutiveSlowCalls", max(record.consecutiveSlowCalls, 0)) +
        threshold(config.consecutiveSlowCallsThreshold)
      );
    case Cause.BACKPRESSURE: {
      const told: u64 = record.totalBackpressure;
      return (
        number("backpressure", told) +
        ',"backpressureRate":' +
        rate(told * 100, told + record.totalCalls) +
        threshold(config.backpressureRateThreshold)
      );
    }
    case Cause.LATENCY_DRIFT:
      return drift(backend, now) + ',"threshold":' + decimal(config.latencyDriftThreshold, FACTOR_DIGITS);
    case Cause.COST_RATE:
      return (
        ',"costPerMinute":' +
        decimal(readSpend(backend, now), MONEY_DIGITS) +
        ',"budgetPerDay":' +
        decimal(config.costPerDay, MONEY_DIGITS) +
        ',"threshold":' +
        decimal(config.costRateThreshold, FACTOR_DIGITS)
      );
    default:
      return "";
  }
}

function drift(backend: Backend, now: u64): string {
  if (!readLatency(backend, now)) return "";
  return (
    number("percentile", latency.judgedPercentile) +
    number("firstTokenMs", latency.judgedMs) +
    number("baselineMs", latency.baselineMs)
  );
}

function threshold(value: i32): string {
  return number("threshold", value);
}

function number(name: string, value: u64): string {
  return ',"' + name + '":' + value.toString();
}

/** Percent: `hundredths` of calls that count, of `calls`. */
function rate(hundredths: u64, calls: u64): string {
  return calls === 0 ? "0" : decimal((hundredths * 10 + calls / 2) / calls, RATE_DIGITS);
}

/** `value` with its last `digits` behind the point, without zeros at the end. */
function decimal(value: u64, digits: i32): string {
  let unit: u64 = 1;
  for (let i = 0; i < digits; i++) unit *= 10;
  const whole = (value / unit).toString();
  let fraction = value % unit;
  if (fraction === 0) return whole;
  let places = digits;
  while (fraction % 10 === 0) {
    fraction /= 10;
    places--;
  }
  return whole + "." + fraction.toString().padStart(places, "0");
}
