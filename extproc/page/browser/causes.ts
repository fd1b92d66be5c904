/** What a cause means, and what somebody can do about it who was just woken by it. */
export interface CauseText {
  /** Behind "gpu is Open:". */
  readonly label: string;
  /** What opened it, where the window's failures do not say so: 2 of 300 calls are no reason by themselves. */
  readonly trigger?: string;
  readonly todo: readonly string[];
}

const WATCH =
  "The breaker probes by itself when the wait is over and comes back in steps. Nothing need be pressed.";
const SERVER = "Look at the server first: its log, nvidia-smi, the pod's events, what was deployed last.";

const TEXTS: Readonly<Record<string, CauseText>> = {
  NONE: { label: "nothing has happened yet", todo: [] },
  FAILURE_RATE: {
    label: "too many calls failed",
    todo: [SERVER, "Compare with the gateway's log: llm.breaker lines name what the failures were.", WATCH],
  },
  CONSECUTIVE_FAILURES: {
    label: "calls failed in a row",
    todo: [
      "Failures in a row mean down rather than weak: is the server up, does its address answer, is the network there?",
      SERVER,
      WATCH,
    ],
  },
  FAILURE_COUNT: {
    label: "too many failures in the window",
    todo: [SERVER, "This trigger ignores the rate: with much traffic its number may be too low.", WATCH],
  },
  ENGINE_FATAL: {
    label: "the engine told it is dead",
    trigger: "one such message is enough (engineFatal)",
    todo: [
      "The engine's process or its GPU is gone (EngineCore, CUDA, NCCL). It rarely heals: restart it if nothing does so by itself.",
      "The same GPU again? Look for Xid errors in dmesg and drain the node.",
      WATCH,
    ],
  },
  OUT_OF_MEMORY: {
    label: "the GPU ran out of memory",
    trigger: "outOfMemoryThreshold is reached",
    todo: [
      "Engines mostly come back within seconds. If it opens again and again, give it less: shorter contexts, fewer sequences at once, a smaller share of the GPU's memory.",
      "Look for somebody else on the same GPU.",
      WATCH,
    ],
  },
  SLOW_CALL_RATE: {
    label: "first tokens come too late",
    trigger: "slowCallRateThreshold is passed",
    todo: [
      "Slow, not broken: look at queue and KV cache on its card, and at long prompts.",
      "More replicas or shedding help; forcing it closed makes callers wait.",
    ],
  },
  CONSECUTIVE_SLOW_CALLS: {
    label: "no first token comes in time",
    trigger: "consecutiveSlowCallsThreshold is reached",
    todo: [
      "All of the latest calls were slow, or still wait: a hang, or a queue that grows. Look at its queue and its log.",
      SERVER,
      WATCH,
    ],
  },
  LATENCY_DRIFT: {
    label: "first tokens drift away from their usual time",
    trigger: "latencyDriftThreshold is passed",
    todo: [
      "Compare p99 with its baseline on the card. Throttling, a noisy neighbour or another mix of prompts?",
      WATCH,
    ],
  },
  COST_RATE: {
    label: "it spends too fast",
    trigger: "costRateThreshold is passed",
    todo: [
      "A minute cost a multiple of the budget. Who calls so much? The callers' limits tell.",
      "If the spending is meant, raise budgetPerDay, or close it for a while.",
    ],
  },
  BACKPRESSURE: {
    label: "it answers little but 429",
    trigger: "backpressureRateThreshold is passed",
    todo: [
      "It is full, or its quota is spent. A provider: look at the account's limits. Your own: add replicas.",
      "It comes back by its own Retry-After.",
    ],
  },
  PROBE_FAILED: { label: "the probe failed", todo: ["It is still sick; the wait has doubled.", SERVER] },
  CANARY_FAILED: {
    label: "a canary failed",
    todo: [
      "It answers probes and fails real prompts: look at its log for what real requests have more of.",
      SERVER,
    ],
  },
  PROBE_ABANDONED: {
    label: "the probe could not be sent",
    todo: [
      "The probe's gateway was lost or had no host to ask: look at the cluster's endpoints in Envoy.",
      SERVER,
    ],
  },
  WAIT_OVER: { label: "its wait is over, a probe is on its way", todo: [WATCH] },
  PROBE_SUCCEEDED: { label: "the probe went well, short prompts are let in", todo: [WATCH] },
  STAGE_PASSED: { label: "a stage of the ramp went well", todo: [WATCH] },
  RAMP_COMPLETE: { label: "canaries went well", todo: [] },
  GROUP_OPENED: {
    label: "most gateways saw it fail",
    todo: [
      "More than half of the gateways opened it by their own evidence: it is the backend, not the network here.",
      SERVER,
    ],
  },
  GROUP_PROBED: { label: "the group's prober has decided", todo: [WATCH] },
  GROUP_CLOSED: { label: "the group has closed it", todo: [] },
  OPERATOR_RESET: { label: "an operator reset it", todo: [] },
  RESTORED: { label: "as it was before Envoy was restarted", todo: [WATCH] },
};

export function causeText(cause: string): CauseText {
  return (
    (Object.hasOwn(TEXTS, cause) && TEXTS[cause]) || {
      label: cause.toLowerCase().replaceAll("_", " "),
      todo: [SERVER],
    }
  );
}

/** While an engine's signals hold a recovered backend. */
export const ENGINE_HOLDS =
  "It has recovered and waits for its engine: KV cache above the threshold, or signals that are not fresh.";
