// Answers that are whole though odd, or that are passed on as they are, and callers with habits.
import { gzipSync } from "node:zlib";
import { completionJson, doneEvent, finishEvent, tokenEvent } from "../support/completion.js";
import type { Mode, Write } from "../support/upstream-mode.js";
import type { Fault } from "./fault.js";
import type { Random } from "./random.js";
import {
  beginning,
  eventStreamType,
  events,
  head,
  healthyEvents,
  healthyJson,
  jsonType,
  wireAnswer,
} from "./wire.js";

const wholeText = (streamed: boolean): string => (streamed ? healthyEvents().join("") : healthyJson());
const typeOf = (streamed: boolean): string => (streamed ? eventStreamType : jsonType);

const trailers: Fault = {
  id: "whole-with-trailers",
  streamed: ["at-end"],
  json: ["at-end"],
  script: ({ streamed }) => ({
    mode: wireAnswer({ type: typeOf(streamed), parts: [wholeText(streamed)], ending: "trailers" }),
  }),
};

const noDone: Fault = {
  id: "no-done",
  streamed: ["at-end"],
  script: (shape) => ({
    mode: wireAnswer({ type: eventStreamType, parts: beginning(shape).parts, ending: "clean" }),
  }),
};

const gzip: Fault = {
  id: "gzip",
  streamed: ["after-headers"],
  json: ["after-headers"],
  script: ({ streamed }) => {
    const body = gzipSync(wholeText(streamed));
    const headers = { "content-encoding": "gzip" };
    return {
      mode: wireAnswer({ type: typeOf(streamed), parts: [body], ending: "clean", headers }),
      own: { status: 200, body },
    };
  },
};

const page: Fault = {
  id: "page-200",
  streamed: ["after-headers"],
  json: ["after-headers"],
  script: () => {
    const text = "<html><body>Welcome to the model server</body></html>";
    return {
      mode: wireAnswer({ type: "text/html", parts: [text], ending: "clean" }),
      own: { status: 200, body: Buffer.from(text) },
    };
  },
};

const badEvent: Fault = {
  id: "bad-event",
  streamed: ["before-first-token", "after-tokens"],
  script: ({ moment, random }) => {
    const whole = healthyEvents();
    const at = moment === "after-tokens" ? random.between(2, 5) : random.between(0, 1);
    const bad = random.pick(['data: {"choices":[{"delta":{"con\n\n', "data: not JSON\n\n", "garbage\n\n"]);
    const parts = [...whole.slice(0, at), bad, ...whole.slice(at)];
    return {
      mode: wireAnswer({ type: eventStreamType, parts, ending: "clean" }),
      own: { status: 200, body: Buffer.from(parts.join("")) },
    };
  },
};

/** Pieces of a few bytes, cut anywhere, each a write of its own; within every limit. */
function drip(text: string, random: Random): Write[] {
  const writes: Write[] = [];
  let waitedMs = 0;
  for (let at = 0; at < text.length; ) {
    const size = random.between(5, 90);
    writes.push(text.slice(at, at + size));
    at += size;
    const waitMs = waitedMs < 600 ? random.between(0, 40) : 0;
    waitedMs += waitMs;
    if (waitMs > 0) writes.push({ waitMs });
  }
  return writes;
}

const slowDrip: Fault = {
  id: "slow-drip",
  streamed: ["after-headers"],
  json: ["after-headers"],
  script: ({ streamed, random }) => ({
    mode: {
      kind: "chunks",
      headers: { "content-type": typeOf(streamed) },
      writes: drip(wholeText(streamed), random),
    },
    lastsMs: 1_000,
  }),
};

const informational: Fault = {
  id: "informational",
  streamed: ["before-headers"],
  json: ["before-headers"],
  script: ({ streamed, random }) => {
    const early = random.pick([head(103, { link: "</a>; rel=preload" }), head(100, {})]);
    const whole = wireAnswer({ type: typeOf(streamed), parts: [wholeText(streamed)], ending: "clean" });
    if (whole.kind !== "raw") return { mode: whole };
    return { mode: { ...whole, writes: [early, { waitMs: random.between(0, 100) }, ...whole.writes] } };
  },
};

const hugeHeaders: Fault = {
  id: "huge-headers",
  streamed: ["before-headers"],
  json: ["before-headers"],
  script: ({ streamed }) => {
    const padding = Array.from({ length: 100 }, (_, at) => [`x-padding-${at}`, "y".repeat(1_000)]);
    const headers = Object.fromEntries(padding);
    const parts = [wholeText(streamed)];
    return { mode: wireAnswer({ type: typeOf(streamed), parts, ending: "clean", headers }), isPlain: true };
  },
};

/** An answer without a body, on a connection that is used again. */
function bodiless(status: number, headers: Readonly<Record<string, string>> = {}): Fault {
  const mode: Mode = { kind: "status", status, headers, body: "" };
  return {
    id: `status-${status}`,
    streamed: ["before-headers"],
    json: ["before-headers"],
    script: () => ({ mode, own: { status, body: Buffer.alloc(0) } }),
  };
}

const refused: Fault = {
  id: "refused",
  streamed: ["before-headers"],
  json: ["before-headers"],
  isDead: true,
  script: () => ({ mode: { kind: "reset" }, isPlain: true }),
};

const callerLeaves: Fault = {
  id: "caller-leaves",
  streamed: ["before-headers", "after-headers", "before-first-token", "after-tokens"],
  json: ["before-headers", "after-headers", "after-tokens"],
  script: (shape) => {
    // Not before a first tier has failed, when the fallback is to be left.
    const leaveAfterMs = shape.random.between(400, 800);
    if (shape.moment === "before-headers") return { mode: { kind: "hang" }, caller: { leaveAfterMs } };
    const { type, parts } = beginning(shape);
    const isSeen = shape.streamed && shape.moment === "after-tokens";
    const caller = isSeen ? shape.random.pick([{ leaveAfterBytes: 1 }, { leaveAfterMs }]) : { leaveAfterMs };
    return { mode: wireAnswer({ type, parts, ending: "silence" }), caller };
  },
};

/** More than all buffers on the way hold, so that the backend has to wait for the caller. */
const slowReader: Fault = {
  id: "slow-reader",
  streamed: ["after-tokens"],
  json: ["after-tokens"],
  script: ({ streamed }) => {
    const text = streamed
      ? [
          ...events(0),
          ...Array(150).fill(tokenEvent("chaos", "x".repeat(40_000))),
          finishEvent("chaos"),
          doneEvent,
        ]
      : [completionJson("chaos", "x".repeat(6_000_000))];
    const pauseMs = 2_000;
    return {
      mode: wireAnswer({ type: typeOf(streamed), parts: text, ending: "clean", framing: "content-length" }),
      own: { status: 200, body: Buffer.from(text.join("")) },
      caller: { pauseMs },
      lastsMs: pauseMs + 1_000,
    };
  },
};

export const oddAnswers: readonly Fault[] = [
  trailers,
  noDone,
  gzip,
  page,
  badEvent,
  slowDrip,
  informational,
  hugeHeaders,
  bodiless(101, { connection: "upgrade", upgrade: "chaos" }),
  bodiless(204),
  bodiless(304),
  refused,
  callerLeaves,
  slowReader,
];
