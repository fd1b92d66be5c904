/** What the tick of the worker that acts has set by the service's word. */
export interface Orders {
  readonly mode: number;
  /** -1: it stands alone. */
  readonly rampShare: number;
  readonly isHeld: boolean;
}

/** A word from outside, made for one generation. */
export interface Word {
  readonly version: number;
  readonly generation: number;
  readonly to: number;
  readonly stage: number;
  readonly openings: number;
  readonly waitMs: number;
  readonly cause: number;
  readonly isForAll: boolean;
}

/** What a worker asks or tells of the record, in one call of filter/records.ts. */
export type Operation =
  | { readonly kind: "look"; readonly random: number }
  | { readonly kind: "canary"; readonly isIdle: boolean }
  | {
      readonly kind: "outcome";
      readonly generation: number;
      readonly permit: number;
      readonly outcome: number;
      readonly retryAfterMs: number;
    }
  | {
      /** Without permits, as a VM has gathered them. */
      readonly kind: "successes";
      readonly generation: number;
      readonly calls: number;
      readonly endsStreak: boolean;
    }
  | {
      readonly kind: "firstTokens";
      readonly generation: number;
      readonly calls: number;
      readonly slow: number;
    }
  | { readonly kind: "release" | "renew"; readonly permit: number }
  | { readonly kind: "takeProbe"; readonly owner: number }
  | { readonly kind: "abandon"; readonly owner: number }
  | { readonly kind: "probeVerdict"; readonly owner: number; readonly isWell: boolean }
  | { readonly kind: "close" }
  | ({ readonly kind: "word" } & Word);

/** An operation, when it began and by whom it was done. */
export interface Act {
  readonly operation: Operation;
  readonly orders: Orders;
  readonly nowMs: number;
}
