// Answers that stop: broken off, silent, or ended as if they were whole.
import { completionJson, doneEvent, tokenEvent } from "../support/completion.js";
import type { Write } from "../support/upstream-mode.js";
import type { Fault, Moment, Script, Shape } from "./fault.js";
import {
  beginning,
  type Ending,
  eventStreamType,
  events,
  type Framing,
  jsonType,
  wireAnswer,
} from "./wire.js";

const answering: readonly Moment[] = ["after-headers", "before-first-token", "after-tokens", "at-end"];
const unfinished: readonly Moment[] = ["after-headers", "before-first-token", "after-tokens"];
const inOnePiece: readonly Moment[] = ["after-headers", "after-tokens", "at-end"];
/** Longer than any limit on a first token, with something to read all the time. */
const pings = Array.from({ length: 40 }, (): Write[] => [": ping\n\n", { waitMs: 100 }]).flat();
const lateMs = 1_600;

function stopping(shape: Shape, ending: Ending, framing: Framing = "chunked"): Script {
  const { type, parts } = beginning(shape);
  const isPlain = ending === "closed" || ending === "garbage";
  return { mode: wireAnswer({ type, parts, ending, framing }), isPlain };
}

const reset: Fault = {
  id: "reset",
  streamed: ["before-headers", "after-headers", "after-tokens"],
  json: ["before-headers"],
  script: ({ moment, random }) => {
    if (moment === "before-headers") return { mode: { kind: "reset" }, isPlain: true };
    const at = moment === "after-tokens" ? random.between(1, 4) : 0;
    return { mode: { kind: "cut", at, how: "rst", gapMs: random.pick([0, 20]) }, isPlain: true };
  },
};

const cut: Fault = {
  id: "cut",
  streamed: answering,
  json: inOnePiece,
  script: (shape) => {
    const framing: Framing = shape.streamed ? "chunked" : shape.random.pick(["chunked", "content-length"]);
    return stopping(shape, "closed", framing);
  },
};

const silence: Fault = {
  id: "silence",
  streamed: ["before-headers", ...answering],
  json: ["before-headers", ...inOnePiece],
  script: (shape) =>
    shape.moment === "before-headers" ? { mode: { kind: "hang" } } : stopping(shape, "silence"),
};

const cleanHalf: Fault = {
  id: "clean-half",
  streamed: unfinished,
  script: (shape) =>
    stopping(shape, "clean", shape.random.pick(["chunked", "content-length", "until-close"])),
};

const truncatedJson: Fault = {
  id: "truncated-json",
  json: inOnePiece,
  script: (shape) =>
    stopping(shape, "clean", shape.random.pick(["chunked", "content-length", "until-close"])),
};

const badFraming: Fault = {
  id: "bad-framing",
  streamed: answering,
  json: inOnePiece,
  script: (shape) => stopping(shape, "garbage"),
};

const halfWithTrailers: Fault = {
  id: "half-with-trailers",
  streamed: unfinished,
  json: inOnePiece,
  script: (shape) => stopping(shape, "trailers"),
};

const pingsOnly: Fault = {
  id: "pings-only",
  streamed: unfinished,
  script: (shape) => {
    const writes = [...beginning(shape).parts, ...pings];
    return { mode: { kind: "chunks", writes }, lastsMs: 4_000 };
  },
};

const lateToken: Fault = {
  id: "late-token",
  streamed: ["before-first-token"],
  script: () => ({ mode: { kind: "ttft", ms: lateMs }, lastsMs: lateMs }),
};

const doneOnly: Fault = {
  id: "done-only",
  streamed: ["after-headers", "before-first-token"],
  script: (shape) => ({
    mode: wireAnswer({
      type: eventStreamType,
      parts: [...beginning(shape).parts, doneEvent],
      ending: "clean",
    }),
  }),
};

const empty: Fault = {
  id: "empty-200",
  streamed: ["after-headers"],
  json: ["after-headers"],
  script: ({ streamed, random }) => {
    const type = streamed ? eventStreamType : jsonType;
    const framing = random.pick<Framing>(["chunked", "content-length", "until-close"]);
    return { mode: wireAnswer({ type, parts: [], ending: "clean", framing }) };
  },
};

/** Stops when more has come than is held: of any stream, or of an answer in one piece. */
const longHalf: Fault = {
  id: "long-half",
  streamed: ["before-first-token", "after-tokens"],
  json: ["after-tokens"],
  script: ({ moment, streamed, random }) => {
    const ending = random.pick<Ending>(["clean", "closed", "silence"]);
    const framing = random.pick<Framing>(["chunked", "content-length"]);
    const type = streamed ? eventStreamType : jsonType;
    const mode = wireAnswer({ type, parts: longParts(moment, streamed), ending, framing });
    return { mode, isTooLong: true };
  },
};

function longParts(moment: Moment, streamed: boolean): string[] {
  const padding = "x".repeat(40_000);
  if (!streamed) return [completionJson("chaos", "x".repeat(500_000)).slice(0, -80)];
  if (moment === "before-first-token") return [...Array<string>(30).fill(`: ${padding}\n\n`), ...events(0)];
  return [...events(0), ...Array<string>(30).fill(tokenEvent("chaos", padding))];
}

export const brokenAnswers: readonly Fault[] = [
  reset,
  cut,
  silence,
  cleanHalf,
  truncatedJson,
  badFraming,
  halfWithTrailers,
  pingsOnly,
  lateToken,
  doneOnly,
  empty,
  longHalf,
];
