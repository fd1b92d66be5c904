import { amount, duration, field, flag, HOUR, MOST, percent, whole } from "./fields.js";
import { each } from "./outcomes.js";

const TRIGGERS = [
  "failureRate",
  "slowCallRate",
  "consecutiveFailures",
  "failureCount",
  "latencyDrift",
  "costRate",
  "engineFatal",
  "outOfMemory",
  "backpressure",
  "consecutiveSlowCalls",
] as const;

/** What opens a backend, and how strictly. */
export const triggerFields = {
  failureRateThreshold: field(percent, "Opens at this share of failures; 0 = off.", {
    default: 35,
    bounds: "0–100",
  }),
  consecutiveFailuresThreshold: field(whole(0, MOST), "Opens at so many failures in a row; 0 = off.", {
    default: 5,
    bounds: "≥ 0",
  }),
  failureCountThreshold: field(
    whole(0, MOST),
    "Opens at so many failures in the window, whatever the rate; 0 = off.",
    { default: 0, bounds: "≥ 0" },
  ),
  slowCallRateThreshold: field(
    percent,
    "Opens at this share of slow ones among calls with a first token or its timeout; 0 = off.",
    { default: 40, bounds: "0–100" },
  ),
  consecutiveSlowCallsThreshold: field(
    whole(0, MOST),
    "Opens at so many slow ones in a row, those that still wait for their first token among them; 0 = off.",
    { default: 10, bounds: "≥ 0" },
  ),
  slowFirstTokenThreshold: field(duration("1ms", HOUR), "A first token later than this …", { default: "8s" }),
  slowFirstTokenPerPromptToken: field(
    duration("0s", "60s"),
    "… plus this for each token of the prompt is slow. An answer's length never is.",
    { default: "2ms" },
  ),
  slowTokenTime: field(
    duration("0s", HOUR),
    "A mean time per output token above it makes a call slow too; the only measure for answers in one piece, when they tell their usage.",
    { shown: "off" },
  ),
  latencyDriftThreshold: field(
    amount(1000),
    "Opens when the 95th percentile of first-token times (the 99th from 300 samples on) exceeds so many times its own baseline; 0 = off. Times are taken as those of a short prompt: each of its tokens is allowed `slowFirstTokenPerPromptToken`. The baseline is learnt while the backend is Closed and well, one lesson a minute; below 100 ms it counts as 100 ms. It outlives policies, not Envoy.",
    { default: 3, bounds: "0–1000" },
  ),
  latencyDriftMinimumSamples: field(whole(1, 300), "Samples below which no drift is judged.", {
    default: 100,
    bounds: "1–300",
  }),
  costRateThreshold: field(
    amount(1000),
    "Opens when a minute costs more than so many times the even share of `budgetPerDay`.",
    { default: 3, bounds: "0–1000" },
  ),
  backpressureRateThreshold: field(percent, "Opens when this share of answers asks for less; 0 = off.", {
    default: 80,
    bounds: "0–100",
  }),
  backpressureWait: field(duration("100ms", HOUR), "The wait then, when no answer told a Retry-After.", {
    default: "15s",
  }),
  maxRetryAfter: field(
    duration("0s", HOUR),
    "A Retry-After beyond it is taken for this. It lengthens any opening's wait, and never shortens one.",
    { default: "5m" },
  ),
  enforcingPercent: field(
    each(TRIGGERS, percent),
    "`{failureRate, slowCallRate, consecutiveFailures, failureCount, latencyDrift, costRate, engineFatal, outOfMemory, backpressure, consecutiveSlowCalls}`: the share of a trigger's detections that open; the others are one line `llm.breaker report` and the counter `reported`.",
    { shown: "all 100", bounds: "0–100", isWhole: true },
  ),
};

/** What opens one at a single sign. */
export const fatalFields = {
  engineFatal: field(flag, "One message of a dead engine or a broken GPU opens at once.", { default: true }),
  outOfMemoryThreshold: field(
    whole(0, 1000),
    "Opens at so many GPU out-of-memory errors in the window; 0 = off.",
    { default: 2, bounds: "≥ 0" },
  ),
};
