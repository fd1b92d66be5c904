// The messages of proto/llm_breaker/v1/sync.proto, and who has a part in them. Field comments are there.

export type State = "CLOSED" | "OPEN" | "HALF_OPEN";
export type Mode = "enforce" | "shadow" | "disabled" | "forcedOpen" | "forcedClosed";

export interface SyncRequest {
  readonly process: string;
  readonly node: string;
  readonly policy: string;
  readonly policyHash: string;
  readonly sequence: number;
  readonly asksRestore: boolean;
  readonly backends: readonly BackendReport[];
  readonly chains: readonly Chain[];
}

export interface Chain {
  readonly name: string;
  readonly tiers: readonly string[];
}

export interface BackendReport {
  readonly name: string;
  readonly state: State;
  readonly stage: number;
  readonly generation: number;
  readonly openings: number;
  /** As filter/breaker/state.ts spells it: FAILURE_RATE, …; UNKNOWN for a number we don't know. */
  readonly cause: string;
  readonly stateAgeMs: number;
  readonly waitRemainingMs: number;
  readonly isEvidence: boolean;
  readonly track: number;
  readonly mode: Mode;
  readonly policyMode: Mode;
  readonly override?: Override;
  readonly window: Window;
  readonly seconds: readonly Second[];
  readonly transitions: readonly Transition[];
  readonly livePermits: number;
  readonly stageCap: number;
  readonly probeLeaseMs: number;
  readonly probeTimeoutMs: number;
  readonly counters: Counters;
  readonly load?: Load;
  readonly latency?: Latency;
}

export interface Latency {
  readonly samples: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly judgedPercentile: number;
  readonly judgedMs: number;
  /** 0: not learnt yet. */
  readonly baselineMs: number;
}

export interface Window {
  readonly calls: number;
  readonly failures: number;
  readonly weightedFailures: number;
  readonly backpressure: number;
  readonly outOfMemory: number;
  readonly firstTokens: number;
  readonly slowCalls: number;
  readonly consecutiveFailures: number;
}

export type Second = Omit<Window, "consecutiveFailures"> & { readonly ageMs: number };

export interface Transition {
  readonly generation: number;
  readonly from: State;
  readonly to: State;
  readonly stage: number;
  readonly cause: string;
  readonly openings: number;
  readonly ageMs: number;
  readonly waitMs: number;
  readonly calls: number;
  readonly weightedFailures: number;
  readonly consecutiveFailures: number;
}

export interface Counters {
  readonly permitted: number;
  readonly refused: number;
  readonly limited: number;
  readonly shed: number;
  readonly diverted: number;
  readonly success: number;
  readonly failure: number;
  readonly backpressure: number;
  readonly neutral: number;
  readonly late: number;
  readonly canaries: number;
  readonly probes: number;
  readonly opened: number;
}

export interface Load {
  /** 0 to 1; undefined: not told. */
  readonly kvCacheUse?: number;
  readonly waiting?: number;
  readonly ageMs: number;
}

export interface SyncResponse {
  readonly sequence: number;
  readonly directives: readonly Directive[];
  readonly nextMs: number;
}

export interface Directive extends Advice {
  readonly name: string;
  readonly acknowledgedGeneration: number;
  readonly summary?: Summary;
}

/** What one advisor has to say about one backend. */
export interface Advice {
  readonly override?: Override;
  readonly signals?: Signals;
  readonly group?: GroupAdvice;
  readonly move?: Move;
}

export interface Override {
  readonly mode: Mode;
  readonly remainingMs: number;
  readonly version: number;
  readonly isWithdrawn: boolean;
  readonly who: string;
  readonly why: string;
}

export interface Signals {
  readonly isFresh: boolean;
  /** 0 to 1, the worst sample of the last 5 s; undefined: unknown. */
  readonly kvCacheUse?: number;
  readonly isWhole: boolean;
  readonly waiting?: number;
  readonly isQueueLong: boolean;
}

export interface GroupAdvice {
  readonly mayProbeMs: number;
  readonly rampShare: number;
  readonly live: number;
  readonly evidence: number;
}

export interface Move {
  readonly version: number;
  readonly expectedGeneration: number;
  readonly to: State;
  readonly stage: number;
  readonly openings: number;
  readonly waitMs: number;
  /** GROUP_OPENED, GROUP_PROBED, GROUP_CLOSED or OPERATOR_RESET. */
  readonly cause: string;
  readonly isForAll: boolean;
  readonly isOwn: boolean;
}

export interface Summary {
  readonly state: State;
  readonly openings: number;
  readonly waitMs: number;
  readonly isEvidence: boolean;
  readonly track: number;
}

/** One Envoy process under one policy. */
export interface Gateway {
  readonly process: string;
  readonly node: string;
  readonly policy: string;
}

/** Has a say in what gateways are told. */
export interface Advisor {
  /** A gateway told how it stands; called before `advise`. */
  observe?(gateway: Gateway, reports: readonly BackendReport[]): void;
  /** A gateway was silent for 3 s and counts no more. */
  forget?(gateway: Gateway): void;
  advise(gateway: Gateway, report: BackendReport): Advice;
  /** True while something is under way that gateways should hear of sooner than in a second. */
  readonly isBusy?: boolean;
}

/** An operator's word as gateways of a group pass it on; `remainingMs` counts from when it was told. */
export interface SharedOverride extends Override {
  readonly backend: string;
}
