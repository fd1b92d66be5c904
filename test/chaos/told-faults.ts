// Faults that an answer tells: an error under status 200, an error status, an end by an abort.
import type { Mode } from "../support/upstream-mode.js";
import type { Fault, Moment } from "./fault.js";
import { beginning, eventStreamType, head, healthyJson, jsonType, wireAnswer } from "./wire.js";

const errors = [
  { message: "EngineCore encountered an issue. See stack trace.", type: "InternalServerError", code: 500 },
  { message: "Internal error while decoding", type: "server_error", code: 500 },
  { message: "CUDA out of memory. Tried to allocate 2.00 GiB.", type: "InternalServerError", code: 500 },
];

const inBandError: Fault = {
  id: "in-band-error",
  streamed: ["after-headers", "before-first-token", "after-tokens"],
  json: ["after-headers"],
  script: (shape) => {
    const text = JSON.stringify({ error: shape.random.pick(errors) });
    if (!shape.streamed) return { mode: wireAnswer({ type: jsonType, parts: [text], ending: "clean" }) };
    const parts = [...beginning(shape).parts, { waitMs: 30 }, `data: ${text}\n\n`, "data: [DONE]\n\n"];
    return { mode: wireAnswer({ type: eventStreamType, parts, ending: "clean" }) };
  },
};

const abortFinish: Fault = {
  id: "abort-finish",
  streamed: ["after-headers", "before-first-token", "after-tokens"],
  json: ["at-end"],
  script: (shape) => {
    if (!shape.streamed) {
      const text = healthyJson().replace('"finish_reason":"stop"', '"finish_reason":"abort"');
      return { mode: wireAnswer({ type: jsonType, parts: [text], ending: "clean" }) };
    }
    const abort = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"abort"}]}\n\n';
    const parts = [...beginning(shape).parts, { waitMs: 30 }, abort, "data: [DONE]\n\n"];
    return { mode: wireAnswer({ type: eventStreamType, parts, ending: "clean" }) };
  },
};

/** A proxy's page under the type that was hoped for. */
const mislabelledPage: Fault = {
  id: "mislabelled-page",
  streamed: ["after-headers"],
  json: ["after-headers"],
  script: ({ streamed }) => ({
    mode: wireAnswer({
      type: streamed ? eventStreamType : jsonType,
      parts: ["<html><body>Sign in to the network</body></html>"],
      ending: "clean",
    }),
  }),
};

interface StatusFault {
  readonly id: string;
  readonly status: number;
  readonly retryAfter?: number;
  readonly body?: string;
  readonly type?: string;
  readonly isPlain?: boolean;
}

const htmlPage = "<html><body><h1>502 Bad Gateway</h1></body></html>";
const longMessage = JSON.stringify({ error: { message: "x".repeat(100_000), type: "server_error" } });

const statuses: readonly StatusFault[] = [
  { id: "status-500", status: 500, isPlain: true },
  { id: "status-502", status: 502, isPlain: true },
  { id: "status-503", status: 503, isPlain: true },
  { id: "status-503-soon", status: 503, retryAfter: 1 },
  { id: "status-503-later", status: 503, retryAfter: 30 },
  { id: "status-429", status: 429 },
  { id: "status-429-soon", status: 429, retryAfter: 1 },
  { id: "status-529", status: 529 },
  { id: "status-424", status: 424, isPlain: true },
  { id: "status-500-empty", status: 500, body: "", isPlain: true },
  { id: "status-502-page", status: 502, body: htmlPage, type: "text/html", isPlain: true },
  { id: "status-500-long", status: 500, body: longMessage, isPlain: true },
];

const beforeHeaders: readonly Moment[] = ["before-headers"];

function statusFault({ id, status, retryAfter, body, type, isPlain }: StatusFault): Fault {
  const headers = {
    "content-type": type ?? jsonType,
    ...(retryAfter && { "retry-after": String(retryAfter) }),
  };
  const mode: Mode = { kind: "status", status, headers, ...(body !== undefined && { body }) };
  const patienceMs = retryAfter !== undefined && retryAfter <= 3 ? retryAfter * 1_000 : undefined;
  const script = { mode, ...(isPlain && { isPlain }), ...(patienceMs && { patienceMs }) };
  return { id, streamed: beforeHeaders, json: beforeHeaders, script: () => script };
}

/** An error status whose message never comes, or not whole. */
const silentError: Fault = {
  id: "status-500-unsaid",
  streamed: ["after-headers"],
  json: ["after-headers"],
  script: ({ random }) => {
    const top = head(500, { "content-type": jsonType, "content-length": "200" });
    const close = random.pick([true, false]);
    return { mode: { kind: "raw", writes: [top, '{"error":{"mess'], close }, isPlain: true };
  },
};

export const toldFaults: readonly Fault[] = [
  inBandError,
  abortFinish,
  mislabelledPage,
  ...statuses.map(statusFault),
  silentError,
];
