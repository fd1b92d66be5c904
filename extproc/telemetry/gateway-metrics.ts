import type { Advice, BackendReport, Counters, Latency } from "../sync/contract.js";
import { mostSeen } from "../sync/most-seen.js";
import type { Total } from "../sync/totals.js";
import type { MetricsPage, Put } from "./metrics-page.js";

/** What the figures are of, asked anew with each page. */
export interface GatewayFigures {
  /** Live gateways. */
  list(): readonly GatewayFigure[];
  totals(): Iterable<Total>;
}

interface GatewayFigure {
  readonly process: string;
  readonly node: string;
  readonly policy: string;
  readonly silentMs: number;
  readonly backends: ReadonlyMap<string, BackendFigure>;
}

interface BackendFigure {
  readonly report: BackendReport;
  readonly advice: Advice;
}

const BACKEND = ["backend", "policy"];
const STATES = ["CLOSED", "OPEN", "HALF_OPEN"] as const;
const OUTCOMES = ["success", "failure", "backpressure", "neutral", "late"] as const;

/** Counters of one number for each backend: name, help, number. */
const COUNTERS: readonly [string, string, (counters: Counters) => number][] = [
  [
    "offered_requests",
    "Requests that came to the backend, let through or not: what it would get if it were well.",
    ({ permitted, refused, limited, shed }) => permitted + refused + limited + shed,
  ],
  ["permitted_requests", "Requests that the breaker let through.", ({ permitted }) => permitted],
  ["refused_requests", "Requests that the breaker kept from the backend.", ({ refused }) => refused],
  ["limited_requests", "Requests that found maxConcurrentCalls in flight.", ({ limited }) => limited],
  ["shed_requests", "Requests of a class that can wait, kept from a long queue.", ({ shed }) => shed],
  [
    "diverted_requests",
    "Requests that came since an earlier tier did not serve them.",
    ({ diverted }) => diverted,
  ],
  ["canaries", "Requests that tried the backend while HALF_OPEN.", ({ canaries }) => canaries],
  ["probes", "Probes that were sent.", ({ probes }) => probes],
  ["openings", "Transitions to OPEN.", ({ opened }) => opened],
];

/** Tells of all gateways that sync with this service. */
export function defineGatewayMetrics(page: MetricsPage, figures: GatewayFigures): void {
  defineCounters(page, figures);
  defineStates(page, figures);
  defineSignals(page, figures);
  defineLatency(page, figures);
  defineGroup(page, figures);
}

function defineCounters(page: MetricsPage, figures: GatewayFigures): void {
  for (const [name, help, numberOf] of COUNTERS) {
    page.counter({
      name: `llm_breaker_${name}_total`,
      help,
      labels: BACKEND,
      collect: (put) => {
        for (const { backend, policy, counters } of figures.totals())
          put({ backend, policy }, numberOf(counters));
      },
    });
  }
  page.counter({
    name: "llm_breaker_outcomes_total",
    help: "Attempts by what they counted as; late ones count in no rate.",
    labels: [...BACKEND, "class"],
    collect: (put) => {
      for (const { backend, policy, counters } of figures.totals())
        for (const kind of OUTCOMES) put({ backend, policy, class: kind }, counters[kind]);
    },
  });
  page.counter({
    name: "llm_breaker_transitions_total",
    help: "Transitions by their cause.",
    labels: [...BACKEND, "cause"],
    collect: (put) => {
      for (const { backend, policy, transitions } of figures.totals())
        for (const [cause, number] of transitions) put({ backend, policy, cause }, number);
    },
  });
}

function defineStates(page: MetricsPage, figures: GatewayFigures): void {
  page.gauge({
    name: "llm_breaker_gateways",
    help: "Envoy processes that synced within the last 3 seconds, by policy.",
    labels: ["policy"],
    collect: (put) => {
      const live = new Map<string, number>();
      for (const { policy } of figures.list()) live.set(policy, (live.get(policy) ?? 0) + 1);
      for (const [policy, number] of live) put({ policy }, number);
    },
  });
  page.gauge({
    name: "llm_breaker_sync_age_seconds",
    help: "Time since a live gateway synced.",
    labels: ["node", "process", "policy"],
    collect: (put) => {
      for (const { node, process, policy, silentMs } of figures.list())
        put({ node, process, policy }, silentMs / 1000);
    },
  });
  page.gauge({
    name: "llm_breaker_backend_state",
    help: "Live gateways on which the backend is in the state.",
    labels: [...BACKEND, "state"],
    collect: (put) => {
      const sums = new Map<string, Map<string, number>>();
      forEachBackend(figures.list(), ({ report }, policy) => {
        const key = JSON.stringify([report.name, policy]);
        const states = sums.get(key) ?? new Map(STATES.map((state) => [state, 0]));
        states.set(report.state, (states.get(report.state) ?? 0) + 1);
        sums.set(key, states);
      });
      for (const [key, states] of sums) {
        const [backend, policy] = JSON.parse(key) as [string, string];
        for (const [state, number] of states) put({ backend, policy, state }, number);
      }
    },
  });
  page.gauge({
    name: "llm_breaker_override_remaining_seconds",
    help: "How long an operator's word still holds.",
    labels: ["backend", "mode"],
    collect: (put) =>
      forEachBackend(figures.list(), ({ report, advice }) => {
        const { override } = advice;
        if (override === undefined || override.isWithdrawn) return;
        put({ backend: report.name, mode: override.mode }, override.remainingMs / 1000);
      }),
  });
}

function defineSignals(page: MetricsPage, figures: GatewayFigures): void {
  const define = (name: string, help: string, figureOf: FigureOf) =>
    page.gauge({
      name: `llm_breaker_${name}`,
      help,
      labels: ["backend", "source"],
      collect: (put) => {
        const putWorst = worst(put);
        forEachBackend(figures.list(), ({ report, advice }) => {
          const { name: backend, load } = report;
          if (advice.signals?.isFresh) putWorst({ backend, source: "page" }, figureOf(advice.signals));
          if (load !== undefined) putWorst({ backend, source: "headers" }, figureOf(load));
        });
      },
    });
  define(
    "kv_cache_use_ratio",
    "KV cache in use, the worst of the last 5 seconds of all engines, by their pages or their answers' headers.",
    ({ kvCacheUse }) => kvCacheUse,
  );
  define(
    "waiting_requests",
    "Requests that wait at the engine with the longest queue.",
    ({ waiting }) => waiting,
  );
}

type FigureOf = (told: { readonly kvCacheUse?: number; readonly waiting?: number }) => number | undefined;

/** Gateways hear of one engine at different moments. */
function worst(put: Put): (labels: Readonly<Record<string, string>>, value: number | undefined) => void {
  const most = new Map<string, number>();
  return (labels, value) => {
    if (value === undefined) return;
    const key = JSON.stringify(labels);
    const before = most.get(key);
    if (before !== undefined && before >= value) return;
    most.set(key, value);
    put(labels, value);
  };
}

function defineLatency(page: MetricsPage, figures: GatewayFigures): void {
  page.summary({
    name: "llm_breaker_first_token_seconds",
    help: "Time to the first token of a short prompt, on the gateway that saw most of them in the last ten minutes.",
    collect: (put) =>
      forEachLatency(figures.list(), (labels, { p50Ms, p99Ms }) => {
        put({ ...labels, quantile: "0.5" }, p50Ms / 1000);
        put({ ...labels, quantile: "0.99" }, p99Ms / 1000);
      }),
  });
  page.gauge({
    name: "llm_breaker_first_token_baseline_seconds",
    help: "What latencyDrift holds the 95th percentile against, or the 99th once there are enough first tokens.",
    labels: BACKEND,
    collect: (put) =>
      forEachLatency(figures.list(), (labels, { baselineMs }) => {
        if (baselineMs > 0) put(labels, baselineMs / 1000);
      }),
  });
}

function forEachLatency(
  gateways: readonly GatewayFigure[],
  each: (labels: Readonly<Record<string, string>>, latency: Latency) => void,
): void {
  const seen = new Map<string, BackendReport[]>();
  forEachBackend(gateways, ({ report }, policy) => {
    const key = JSON.stringify([report.name, policy]);
    seen.set(key, [...(seen.get(key) ?? []), report]);
  });
  for (const [key, reports] of seen) {
    const [backend, policy] = JSON.parse(key) as [string, string];
    const latency = mostSeen(reports);
    if (latency !== undefined) each({ backend, policy }, latency);
  }
}

function defineGroup(page: MetricsPage, figures: GatewayFigures): void {
  const define = (name: string, help: string, field: "live" | "evidence") =>
    page.gauge({
      name: `llm_breaker_group_${name}`,
      help,
      labels: ["backend"],
      collect: (put) =>
        forEachBackend(figures.list(), ({ report, advice }) => {
          if (advice.group !== undefined) put({ backend: report.name }, advice.group[field]);
        }),
    });
  define("live_gateways", "Live gateways of the group that have the backend.", "live");
  define("evidence_gateways", "Of these, how many opened it on their own evidence.", "evidence");
}

function forEachBackend(
  gateways: readonly GatewayFigure[],
  each: (figure: BackendFigure, policy: string) => void,
): void {
  for (const { backends, policy } of gateways) for (const figure of backends.values()) each(figure, policy);
}
