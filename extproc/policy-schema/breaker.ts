import { z } from "zod";
import { duration, durationMs, field, HOUR, MOST, percent, whole } from "./fields.js";
import { outcomeFields } from "./outcomes.js";
import { fatalFields, triggerFields } from "./triggers.js";

const MAX_STAGES = 8;
const MAX_PERMITS = 16;
/** The filter's parser takes 32 levels of a whole policy. */
const MAX_BODY_DEPTH = 24;

export const MODES = ["enforce", "shadow", "disabled", "forcedOpen", "forcedClosed"] as const;

const probe = z.strictObject({
  path: field(z.string("must be a text").regex(/^\//, "must start with /"), "Where the one probe goes.", {
    default: "/v1/chat/completions",
    bounds: "starts with `/`",
  }),
  body: field(
    z
      .unknown()
      .refine(
        (given) => given !== null && depthOf(given) <= MAX_BODY_DEPTH,
        "must be JSON, and not nested too deeply",
      ),
    "What it sends. Name a model if the server checks it. It carries no caller's key: if the server wants one, give the cluster a `credential_injector` (`overwrite: false` lets callers keep theirs).",
    { shown: "a one-token chat", bounds: "JSON", isWhole: true },
  ),
  firstTokenMax: field(duration("100ms", HOUR), "A slower probe has failed.", {
    default: "8s",
    bounds: "< `probe.lease`",
  }),
  lease: field(
    duration("500ms", HOUR),
    "A prober that is silent for so long loses the probe to another worker.",
    { default: "10s" },
  ),
});

const canary = z.strictObject({
  size: field(
    z.enum(["count", "estimate"]),
    "Tokens counted by the service, or content-length / 3. `count` becomes `estimate` when the service was silent for 30 s.",
    { default: "count" },
  ),
  maxPromptTokens: field(whole(1, MOST), "A larger prompt is no canary.", { default: 256, bounds: "≥ 1" }),
  maxOutputTokens: field(whole(1, MOST), "Asked output (n × max tokens) above it: no canary.", {
    default: 1024,
    bounds: "≥ 1",
  }),
  noDrawAfter: field(
    duration("0s", HOUR),
    "No canary for so long: the next small enough request is one. After twice as long (5 s at least) the probe's request is sent as a canary: a fallback gets no others while the tiers before it are well.",
    { default: "10s" },
  ),
  permitTimeout: field(
    duration("1s", HOUR),
    "A canary's permit dies so long after its last sign of life; a live attempt is one.",
    { default: "30s" },
  ),
});

const stage = z.strictObject({
  percent: whole(1, 100).optional(),
  maxConcurrent: whole(1, MAX_PERMITS).optional(),
  successes: whole(1, MOST).optional(),
});

/** What the breaker of a backend goes by. */
export const breaker = z.strictObject({
  mode: field(
    z.enum(MODES),
    "`shadow`: everything but the refusing (`refused` counts what would have been). `disabled`: nothing is filed, probed or refused. `forcedOpen`: everything is refused (`state` stays as it was). `forcedClosed`: outcomes are filed, triggers only reported.",
    { default: "enforce" },
  ),
  slidingWindowSize: field(whole(1, 120), "One-second buckets in the ring.", {
    default: 30,
    bounds: "1–120",
  }),
  minimumNumberOfCalls: field(
    whole(1, MOST),
    "Rates do not trip below it; counts, streaks and engine faults do.",
    { default: 10, bounds: "≥ 1" },
  ),
  ...triggerFields,
  ...outcomeFields,
  ...fatalFields,
  waitDurationInOpenState: field(
    duration("100ms", HOUR),
    "Wait of the first opening; doubles with each opening in a row, plus 0 to 20 % jitter.",
    { default: "5s" },
  ),
  maxWaitDurationInOpenState: field(duration("100ms", HOUR), "Cap of the doubled wait.", {
    default: "120s",
    bounds: "≥ the wait",
  }),
  backoffResetAfter: field(
    duration("0s", HOUR),
    "Time in Closed after which the next opening counts as the first; `0s` = at once.",
    { default: "60s" },
  ),
  probe: probe.optional(),
  canary: canary.optional(),
  kvCacheUseThreshold: field(
    percent,
    "Percent of the KV cache in use from which on a recovered backend stays Half-open, its canaries going on: the worst of the last 5 s counts. 0 = its use is not looked at. Known by the service's `signals`, else by the answers of clusters with `loadMetrics`; known by neither it holds nothing.",
    { default: 75, bounds: "0–100" },
  ),
  shedAboveQueueDepth: field(
    whole(0, MOST),
    "Requests waiting at the engine above which `shedClasses` take the next tier (counter `shed`); 0 = off. The figure is the service's, else that of the last answer; after 5 s it is believed no more.",
    { default: 0, bounds: "≥ 0" },
  ),
  ramp: field(
    z.array(stage, "must be a list").max(MAX_STAGES, "must have at most 8 stages"),
    "`{percent, maxConcurrent ≤ 16, successes}`: the share of requests that may try, how many at once over all workers, how many successes end the stage. Without a fallback whoever is no canary is refused: make it steep, or set `exhausted.action: bypass`.",
    {
      shown: "one stage: 5 %, 2, 5",
      bounds: "1–8 stages",
      isWhole: true,
    },
  ),
});

export type Breaker = z.output<typeof breaker>;

/** What does not fit together, once all is known: `own` goes over `shared`, and that over the defaults. */
export function breakerFaults(own: Breaker, shared: Breaker = {}): { path: string[]; message: string }[] {
  const ms = (given: string | undefined, otherwise: string) => durationMs(given ?? otherwise);
  const wait = ms(own.waitDurationInOpenState ?? shared.waitDurationInOpenState, "5s");
  const most = ms(own.maxWaitDurationInOpenState ?? shared.maxWaitDurationInOpenState, "120s");
  const firstToken = ms(own.probe?.firstTokenMax ?? shared.probe?.firstTokenMax, "8s");
  const lease = ms(own.probe?.lease ?? shared.probe?.lease, "10s");
  const faults: { path: string[]; message: string }[] = [];
  if (most < wait)
    faults.push({
      path: ["maxWaitDurationInOpenState"],
      message: "must not be shorter than waitDurationInOpenState",
    });
  if (firstToken >= lease)
    faults.push({
      path: ["probe", "firstTokenMax"],
      message: "must be shorter than lease, or a slow probe is never judged",
    });
  return faults;
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
