import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat, sseData } from "../support/client.js";
import { roleEvent } from "../support/completion.js";
import type { Mode } from "../support/upstream-mode.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";

let rig: Rig;

before(async () => {
  rig = await startRig({ policy: neverOpen });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

const error = (message: string) =>
  JSON.stringify({ error: { message, type: "InternalServerError", code: 500 } });
const eventStream = { "content-type": "text/event-stream" };
const pings = Array.from({ length: 30 }, () => [": ping\n\n", { waitMs: 100 }]).flat();

const json = (body: string): Mode => ({
  kind: "chunks",
  headers: { "content-type": "application/json" },
  writes: [body],
});

interface Case {
  readonly what: string;
  readonly mode: Mode;
  readonly stream: boolean;
  /** A plain fault gets one more try on the same backend; anything else goes straight to the next tier. */
  readonly gpuHits: 1 | 2;
  /** The caller waits for at least so long before another tier is asked. */
  readonly leastMs?: number;
  /** What each attempt at it counts as; a failure when absent. */
  readonly outcome?: "backpressure";
}

const cases: readonly Case[] = [
  { what: "a reset before headers", mode: { kind: "reset" }, stream: true, gpuHits: 2 },
  { what: "a plain 500", mode: { kind: "status", status: 500 }, stream: false, gpuHits: 2 },
  { what: "a 502 without a body", mode: { kind: "status", status: 502, body: "" }, stream: true, gpuHits: 2 },
  {
    what: "a 500 from a dead engine",
    mode: { kind: "status", status: 500, body: error("EngineCore encountered an issue. See stack trace.") },
    stream: true,
    gpuHits: 1,
  },
  {
    what: "a 500 by CUDA out of memory",
    mode: { kind: "status", status: 500, body: error("CUDA out of memory. Tried to allocate 2.00 GiB.") },
    stream: false,
    gpuHits: 1,
  },
  {
    what: "an error as the first event of a 200 stream",
    mode: { kind: "sseError", at: 0 },
    stream: true,
    gpuHits: 1,
  },
  {
    what: "a 200 stream with nothing but its end marker",
    mode: { kind: "doneOnly" },
    stream: true,
    gpuHits: 1,
  },
  {
    what: "headers, then silence",
    mode: { kind: "stall" },
    stream: true,
    gpuHits: 1,
    leastMs: 900,
  },
  {
    what: "pings without a token",
    mode: { kind: "chunks", headers: eventStream, writes: pings },
    stream: true,
    gpuHits: 1,
    leastMs: 900,
  },
  {
    what: "a role without a token",
    mode: { kind: "chunks", headers: eventStream, writes: [roleEvent("qwen3-32b"), { waitMs: 3000 }] },
    stream: true,
    gpuHits: 1,
    leastMs: 900,
  },
  { what: "no headers for a stream", mode: { kind: "hang" }, stream: true, gpuHits: 1, leastMs: 900 },
  {
    what: "no headers for an answer in one piece",
    mode: { kind: "hang" },
    stream: false,
    gpuHits: 1,
    leastMs: 3900,
  },
  {
    what: "a JSON answer that stops in the middle",
    mode: { kind: "chunks", headers: { "content-type": "application/json" }, writes: ['{"choices":[{"mess'] },
    stream: false,
    gpuHits: 1,
  },
  {
    what: "a reset in the middle of a held JSON answer",
    mode: {
      kind: "raw",
      writes: [
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"choices":[{"mess',
      ],
    },
    stream: false,
    gpuHits: 2,
  },
  {
    what: "an error object in a JSON answer of status 200",
    mode: json('{"error":{"message":"Internal server error","type":"server_error","code":500}}'),
    stream: false,
    gpuHits: 1,
  },
  {
    what: "vLLM's older error object in a JSON answer of status 200",
    mode: json(
      '{"object":"error","message":"Internal server error","type":"InternalServerError","code":500}',
    ),
    stream: false,
    gpuHits: 1,
  },
  {
    what: "an error event after a role",
    mode: {
      kind: "chunks",
      writes: [roleEvent("m"), { waitMs: 100 }, `data: ${error("Internal error")}\n\n`],
    },
    stream: true,
    gpuHits: 1,
  },
  {
    what: "a stream that ends by an abort before its first token",
    mode: {
      kind: "chunks",
      writes: ['data: {"choices":[{"index":0,"delta":{},"finish_reason":"abort"}]}\n\n'],
    },
    stream: true,
    gpuHits: 1,
  },
  {
    what: "424 from a failing shard",
    mode: {
      kind: "status",
      status: 424,
      body: '{"error":"Request failed during generation","error_type":"generation"}',
    },
    stream: false,
    gpuHits: 2,
  },
  { what: "529", mode: { kind: "status", status: 529 }, stream: false, gpuHits: 1, outcome: "backpressure" },
  {
    what: "503 with a long Retry-After",
    mode: { kind: "status", status: 503, headers: { "retry-after": "120" } },
    stream: true,
    gpuHits: 1,
    outcome: "backpressure",
  },
];

for (const { what, mode, stream, gpuHits, leastMs, outcome } of cases) {
  test(`${what} is answered by the next tier, and the caller sees only that`, async () => {
    rig.gpu.mode = mode;
    const counter = `outcome.${outcome ?? "failure"}`;
    const before = await rig.counter("gpu", counter);
    const answer = await chat(rig.url, { stream });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(answer.complete, answer.brokenBy);
    if (stream) assert.equal(sseData(answer.text).at(-1), "[DONE]");
    else assert.equal(JSON.parse(answer.text).choices[0].message.content, "Hello.");
    assert.deepEqual(rig.hits, [gpuHits, 1, 0]);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
    assert.equal(answer.headers["x-llm-breaker-attempts"], String(gpuHits + 1));
    assert.equal(answer.headers["x-llm-breaker-retry"], undefined);
    await rig.waitForCounter("gpu", counter, before + gpuHits);
    if (leastMs) assert.ok(answer.totalMs >= leastMs, `answered after ${answer.totalMs} ms`);
  });
}

test("a refused connection is answered by the next tier", async () => {
  const port = rig.gpu.port;
  await rig.gpu.stop();
  try {
    const answer = await chat(rig.url, { stream: true });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
    assert.equal(rig.small.arrivals.length, 1);
  } finally {
    await rig.gpu.listen(port);
  }
});

test("an answer is passed on from its first token, not held to its end", async () => {
  rig.gpu.mode = { kind: "sse", events: 8, gapMs: 150 };
  const answer = await chat(rig.url, { stream: true });
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  assert.ok(
    (answer.firstByteMs ?? 9e9) < answer.totalMs - 600,
    `${answer.firstByteMs} of ${answer.totalMs} ms`,
  );
});
