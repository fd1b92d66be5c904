import type { Mode } from "../support/upstream-mode.js";
import {
  type Ask,
  cutAfter,
  errorAnswer,
  halves,
  healthy,
  malformedEvent,
  openEnded,
  silence,
  tokens,
  wholeStream,
} from "./answers.js";
import type { Commit } from "./chain.js";

/** What must hold of a fault beyond what holds of all. */
export interface Demands {
  /** Bytes were out when it happened: under `firstToken` the caller is to see a broken stream. */
  readonly isMidStream?: true;
  /** The caller is to get the primary's answer, byte for byte. */
  readonly isPassedOn?: true;
  readonly byPrimarysSecondTry?: true;
  readonly byNextTierWithinMs?: number;
  readonly reportsAnsweringTier?: true;
}

export interface Fault {
  readonly name: string;
  readonly what: string;
  /** What the primary does with a request; `attempt` counts from 1. */
  readonly primary: (ask: Ask, attempt: number, commit: Commit) => Mode;
  /** What the second tier does; it works when absent. */
  readonly second?: (ask: Ask) => Mode;
  readonly demands: Demands;
  /** Whether each of the caller's requests, one after the other, asks for a stream; one that does when absent. */
  readonly streams?: readonly boolean[];
}

const soonMs = 15_000;
/** `stallTimeout` is 30 s as well: a little longer, or chance decides which of the two is first. */
const stallMs = 31_000;

const once =
  (fault: Mode) =>
  (ask: Ask, attempt: number): Mode =>
    attempt === 1 ? fault : healthy("gpu", ask);

const rateLimit = {
  message: "Rate limit reached for requests",
  type: "rate_limit_error",
  code: "rate_limit_exceeded",
};
const internal = { message: "Internal server error", type: "InternalServerError", param: null, code: 500 };
const unavailable = { message: "Service Unavailable", type: "server_error", param: null, code: 503 };

const contextLengthExceeded = errorAnswer(400, {
  message:
    "This model's maximum context length is 4096 tokens. However, your messages resulted in 5210 tokens. " +
    "Please reduce the length of the messages.",
  type: "invalid_request_error",
  param: "messages",
  code: "context_length_exceeded",
});

const contentFiltered = errorAnswer(400, {
  message: "The response was filtered due to the prompt triggering the content management policy.",
  type: null,
  param: "prompt",
  code: "content_filter",
  status: 400,
  innererror: {
    code: "ResponsibleAIPolicyViolation",
    content_filter_result: { violence: { filtered: true, severity: "high" } },
  },
});

const halfMessageRefused = errorAnswer(400, {
  message: "The last message must not be an assistant's.",
  type: "invalid_request_error",
  param: "messages",
  code: null,
});

/** All but the flapping primary, which has a story of its own. */
export const faults: readonly Fault[] = [
  {
    name: "rate-limited-once",
    what: "429 once with Retry-After 2",
    primary: once(errorAnswer(429, rateLimit, { "retry-after": "2" })),
    demands: { byPrimarysSecondTry: true },
  },
  {
    name: "rate-limited",
    what: "429 for ever without Retry-After",
    primary: () => errorAnswer(429, rateLimit),
    demands: {},
  },
  {
    name: "error-once",
    what: "500 once",
    primary: once(errorAnswer(500, internal)),
    demands: { byPrimarysSecondTry: true },
  },
  { name: "unavailable", what: "503 for ever", primary: () => errorAnswer(503, unavailable), demands: {} },
  {
    name: "reset-once",
    what: "reset before headers once",
    primary: once({ kind: "reset" }),
    demands: {},
  },
  {
    name: "no-answer",
    what: "no answer at all",
    primary: () => ({ kind: "hang" }),
    demands: { byNextTierWithinMs: soonMs },
  },
  {
    name: "late-first-token",
    what: "headers at once, first token after 20 s",
    primary: (ask) => ({ kind: "chunks", writes: [...silence(20_000), ...wholeStream("gpu", ask)] }),
    demands: { byNextTierWithinMs: soonMs },
  },
  {
    name: "cut",
    what: "stream cut after 40 of 60 tokens",
    primary: () => cutAfter(40),
    demands: { isMidStream: true },
  },
  {
    name: "stall",
    what: "stall of 30 s after 20 tokens",
    primary: (ask) => {
      const [before, after] = halves("gpu", ask, 20);
      return { kind: "chunks", writes: [...before, ...silence(stallMs), ...after] };
    },
    demands: { isMidStream: true },
  },
  {
    name: "malformed-chunk",
    what: "one malformed chunk",
    // Besides a whole stream's events, or in the place of one: a token that is lost can be made up for only while nothing
    // is out, so only `complete` can be asked for that.
    primary: (ask, _attempt, commit) => {
      const [before, after] = halves("gpu", ask, 30);
      const rest = commit === "complete" ? after.slice(2) : after;
      return { kind: "chunks", writes: [...before, malformedEvent(ask.model, 30), ...rest] };
    },
    demands: {},
  },
  {
    name: "no-done",
    what: "end without [DONE]",
    primary: (ask) => ({ kind: "chunks", writes: openEnded("gpu", ask) }),
    demands: {},
  },
  {
    name: "context-length",
    what: "400 context_length_exceeded",
    primary: () => contextLengthExceeded,
    second: () => contextLengthExceeded,
    demands: {},
  },
  {
    name: "content-filter",
    what: "400 content filter",
    primary: () => contentFiltered,
    demands: { isPassedOn: true },
  },
  {
    name: "cut-no-prefill",
    what: "cut stream, and the second tier refuses an assistant's half message",
    // Ended like a whole stream, as servers do whose engine died: nothing but the missing finish reason tells.
    primary: ({ model }) => ({ kind: "chunks", writes: tokens(model, 0, 40) }),
    second: (ask) => (ask.lastRole === "assistant" ? halfMessageRefused : healthy("small", ask)),
    demands: { isMidStream: true },
  },
  {
    name: "unavailable-reported",
    what: "503 for ever, the answering tier's model and usage reported",
    primary: () => errorAnswer(503, unavailable),
    demands: { reportsAnsweringTier: true },
    streams: [true, false],
  },
];
