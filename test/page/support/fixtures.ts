import type {
  BackendView,
  ChainsView,
  EntryView,
  TrendsView,
  WindowView,
} from "../../../extproc/control/schemas.js";

export type Transition = Extract<EntryView, { kind: "transition" }>;
type Gateway = BackendView["gateways"][number];

const WINDOW: WindowView = {
  calls: 42,
  failures: 0,
  weightedFailures: 0,
  failureRate: 0,
  backpressure: 0,
  outOfMemory: 0,
  firstTokens: 30,
  slowCalls: 0,
  consecutiveFailures: 0,
};

export function gateway(changes: Partial<Gateway> = {}): Gateway {
  return {
    node: "envoy-1",
    process: "00000000000000a1",
    policy: "demo",
    state: "CLOSED",
    stage: 0,
    mode: "enforce",
    policyMode: "enforce",
    cause: "NONE",
    generation: 1,
    openings: 0,
    stateAgeMs: 754_000,
    waitRemainingMs: 0,
    isEvidence: false,
    canaries: 0,
    window: WINDOW,
    ...changes,
  };
}

/** A healthy backend; what `told` changes on its one gateway holds for all. */
export function backend(
  name: string,
  told: Partial<Gateway> = {},
  changes: Partial<BackendView> = {},
): BackendView {
  const one = gateway(told);
  const { state, mode, openings, waitRemainingMs, cause, window } = one;
  return { name, state, mode, openings, waitRemainingMs, cause, window, gateways: [one], ...changes };
}

export function openBackend(name: string, changes: Partial<BackendView> = {}): BackendView {
  const window = {
    ...WINDOW,
    calls: 20,
    failures: 11,
    weightedFailures: 11,
    failureRate: 55,
    consecutiveFailures: 5,
  };
  const told = { state: "OPEN", cause: "OUT_OF_MEMORY", stateAgeMs: 12_300, waitRemainingMs: 7_400 } as const;
  return backend(name, { ...told, openings: 2, isEvidence: true, window }, changes);
}

export function transition(id: number, changes: Partial<Transition> = {}): Transition {
  return {
    id,
    at: new Date(Date.now() - 12_300).toISOString(),
    backend: "gpu",
    kind: "transition",
    node: "envoy-1",
    process: "00000000000000a1",
    policy: "demo",
    from: "CLOSED",
    to: "OPEN",
    stage: 0,
    cause: "OUT_OF_MEMORY",
    generation: 2,
    openings: 1,
    waitMs: 10_000,
    calls: 20,
    weightedFailures: 11,
    failureRate: 55,
    consecutiveFailures: 5,
    ...changes,
  };
}

export const CHAINS: ChainsView = {
  chains: [{ policy: "demo", name: "chat", tiers: ["gpu", "small", "public"] }],
};

/** A quarter of an hour in which the first backend was ill near the end. */
export function trends(names: readonly string[], periods = 180): TrendsView {
  const points = (isIll: boolean) =>
    Array.from({ length: periods }, (_, index) => {
      const wave = Math.round(60 + 20 * Math.sin(index / 9));
      const age = periods - index;
      const isOpen = isIll && age < 20;
      const isHalfOpen = isIll && age > 60 && age < 72;
      const isOut = isOpen || isHalfOpen;
      return {
        permitted: isOut ? 2 : wave,
        refused: isOut ? wave : 0,
        diverted: !isIll && age < 20 ? Math.round(wave / 3) : 0,
        success: isOut ? 1 : wave - 2,
        failure: isIll && (age === 20 || age === 21) ? 24 : isOut ? 1 : 0,
        state: isOpen ? ("OPEN" as const) : isHalfOpen ? ("HALF_OPEN" as const) : ("CLOSED" as const),
      };
    });
  return {
    periodMs: 900_000 / periods,
    endMs: Date.now(),
    backends: names.map((name, index) => ({ name, points: points(index === 0) })),
  };
}
