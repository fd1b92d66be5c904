/** What one request asks of its caller's limits. */
export interface LimitRequest {
  /** From `callerOf`; undefined when the request names none. */
  readonly caller: string | undefined;
  /** The route's `class`; one that no setting names has the default's limits. */
  readonly className: string;
  /** An upper bound when no exact count is known; undefined when even that is not. */
  readonly promptTokens: number | undefined;
  /** All answers together; undefined when the caller set no limit. */
  readonly outputTokens: number | undefined;
  /** How many answers are asked for: an open length counts as often. */
  readonly answers: number;
}

/** `x-ratelimit-*`, by lower-case name. */
export type LimitHeaders = Readonly<Record<string, string>>;

export type LimitReason = "tokens" | "requests" | "concurrency";

export interface Refusal {
  readonly allowed: false;
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number;
  readonly reason: LimitReason;
  /** What `reason` allows: tokens a minute, requests a minute, requests at once. */
  readonly limit: number;
  readonly headers: LimitHeaders;
}

export type Admission =
  | {
      readonly allowed: true;
      /** What `settle` needs later; a text that goes through Envoy as the fact `reservation`. Empty: nothing was taken. */
      readonly reservation: string;
      readonly headers: LimitHeaders;
    }
  | Refusal;

export interface Limiter {
  /** Reserves before the request goes on. Never rejects: when limits can't be asked the request is allowed. */
  admit(request: LimitRequest): Promise<Admission>;
  /** The request ended. `usedTokens`: what it really used, prompt and answer; undefined leaves what was reserved. */
  settle(reservation: string, usedTokens: number | undefined): void;
  /** The answer to Envoy could not be given: nobody will settle what was taken. */
  cancel(reservation: string): void;
}
