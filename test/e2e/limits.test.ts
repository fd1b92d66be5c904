import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Answer, send } from "../support/client.js";
import { doneEvent, finishEvent, roleEvent, tokenEvent } from "../support/completion.js";
import type { Write } from "../support/upstream-mode.js";
import { OutcomeCounts } from "./support/outcome-counts.js";
import { type Alias, neverOpen, type Rig, startRig } from "./support/rig.js";
import { addRoute, chainOf } from "./support/shipped-config.js";
import { uploadSlowly } from "./support/slow-upload.js";

// How long a caller waits for what: each limit, who keeps it, and what does not count.

const limitMs = { gpu: 500, small: 1_200, public: 800 };
const patienceMs = 1_500;
const answerMs = 2_000;
const stallMs = 700;
const perTokenMs = 2;
/** A tick's distance, and what busy cores add. */
const slackMs = 900;

let rig: Rig;
let outcomes: OutcomeCounts;

before(async () => {
  rig = await startRig({
    service: false,
    concurrency: 1,
    policy: (policy) => {
      neverOpen(policy);
      const { gpu, small } = policy.backends;
      Object.assign(gpu ?? {}, { firstTokenTimeout: `${limitMs.gpu}ms` });
      Object.assign(small ?? {}, { firstTokenTimeout: `${limitMs.small}ms` });
      const chat = Object.assign(chainOf(policy), {
        sameTierRetries: 0,
        firstTokenTimeout: `${limitMs.public}ms`,
        firstTokenTimeoutPerPromptToken: `${perTokenMs}ms`,
        answerTimeout: `${answerMs / 1000}s`,
        stallTimeout: "5s",
      });
      policy.chains.two = { ...chat, tiers: ["gpu", "public"] };
      policy.chains.alone = { ...chat, tiers: ["gpu"] };
      policy.chains.patient = { ...chat, tiers: ["gpu"], lastTierFirstTokenTimeout: `${patienceMs}ms` };
      policy.chains.brisk = { ...chat, stallTimeout: `${stallMs}ms`, attemptsDeadline: "1s" };
    },
    patch: (config) => {
      for (const chain of ["two", "alone", "patient", "brisk"]) addRoute(config, `/${chain}/`, chain);
    },
  });
  outcomes = new OutcomeCounts(rig);
});

beforeEach(() => rig.reset());

after(() => rig.stop());

interface Ask {
  readonly chain?: string;
  readonly stream?: boolean;
  readonly promptBytes?: number;
  readonly timeoutMs?: number;
}

function bodyOf({ stream = true, promptBytes = 2 }: Ask): string {
  const content = "x".repeat(promptBytes);
  return JSON.stringify({ model: "m", stream, messages: [{ role: "user", content }] });
}

function ask(settings: Ask = {}): Promise<Answer> {
  const { chain, timeoutMs } = settings;
  const url = `${rig.url}${chain ? `/${chain}` : ""}/v1/chat/completions`;
  return send(url, { body: bodyOf(settings), ...(timeoutMs && { timeoutMs }) });
}

/** How long the first tier was waited for. */
function waitedMs(next: Exclude<Alias, "gpu">): number {
  const upstream = next === "small" ? rig.small : rig.public_;
  return (upstream.arrivals[0]?.atMs ?? 0) - (rig.gpu.arrivals[0]?.atMs ?? 0);
}

function assertWaited(ms: number, least: number): void {
  assert.ok(ms > least - 50, `waited ${ms} ms, the limit is ${least} ms`);
  assert.ok(ms < least + slackMs, `waited ${ms} ms, the limit is ${least} ms`);
}

test("once headers came each tier has its own limit for the first token", async () => {
  rig.gpu.mode = { kind: "stall" };
  rig.small.mode = { kind: "ttft", ms: limitMs.small - 300 };
  const answer = await ask();
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  assert.equal(answer.headers["x-llm-breaker-tried"], "gpu=timeout");
  assertWaited(waitedMs("small"), limitMs.gpu);
});

test("before headers Envoy keeps one limit for all attempts: the longest of the chain's tiers", async () => {
  rig.gpu.mode = { kind: "hang" };
  assert.equal((await ask()).headers["x-llm-breaker-backend"], "small");
  assertWaited(waitedMs("small"), limitMs.small);
  rig.gpu.reset();
  assert.equal((await ask({ chain: "two" })).headers["x-llm-breaker-backend"], "public");
  assertWaited(waitedMs("public"), limitMs.public);
  const alone = await ask({ chain: "alone" });
  assert.equal(alone.status, 504);
  assert.equal(alone.headers["x-llm-breaker-tried"], "gpu=timeout");
  assertWaited(alone.totalMs, limitMs.gpu);
});

test("on the last tier a late first token is waited for as long as its callers have patience, and no longer", async () => {
  rig.gpu.mode = { kind: "ttft", ms: 2 * limitMs.gpu };
  const late = await ask({ chain: "patient" });
  assert.equal(late.status, 200);
  assert.equal(late.headers["x-llm-breaker-attempts"], "1");
  assert.equal((await ask({ chain: "alone" })).status, 504);
  for (const kind of ["stall", "hang"] as const) {
    rig.gpu.mode = { kind };
    const answer = await ask({ chain: "patient" });
    assert.equal(answer.headers["x-llm-breaker-tried"], "gpu=timeout");
    assertWaited(answer.totalMs, patienceMs);
  }
});

test("a long prompt's first token may take longer, by content-length / 3", async () => {
  const promptBytes = 1_500;
  const longerMs = (promptBytes / 3) * perTokenMs;
  rig.gpu.mode = { kind: "ttft", ms: limitMs.gpu + longerMs / 2 };
  assert.equal((await ask({ promptBytes })).headers["x-llm-breaker-backend"], "gpu");
  assert.equal((await ask()).headers["x-llm-breaker-backend"], "small");
  rig.reset();
  rig.gpu.mode = { kind: "stall" };
  await ask({ promptBytes });
  assertWaited(waitedMs("small"), limitMs.gpu + longerMs);
});

test("no prompt is so long that its first token may take longer than an answer", async () => {
  rig.gpu.mode = { kind: "stall" };
  await ask({ promptBytes: 60_000 });
  // The small tier's window is too small for it.
  assertWaited(waitedMs("public"), answerMs);
});

test("an answer in one piece has the answer's limit, not a token's", async () => {
  rig.gpu.mode = { kind: "ok", delayMs: limitMs.small + 300 };
  assert.equal((await ask({ stream: false })).headers["x-llm-breaker-backend"], "gpu");
  rig.reset();
  rig.gpu.mode = { kind: "hang" };
  const answer = await ask({ stream: false });
  assert.equal(answer.headers["x-llm-breaker-tried"], "gpu=timeout");
  assertWaited(waitedMs("small"), answerMs);
});

test("half an answer in one piece, then silence: a stall, answered by the next tier", async () => {
  const json = { "content-type": "application/json" };
  rig.gpu.mode = { kind: "chunks", headers: json, writes: ['{"choices":[{"mess', { waitMs: 8_000 }] };
  const answer = await ask({ chain: "brisk", stream: false });
  assert.equal(answer.headers["x-llm-breaker-tried"], "gpu=stall");
  assertWaited(waitedMs("small"), stallMs - 250);
});

test("the silence of a long prompt's prefill is no stall", async () => {
  const rest: Write[] = [tokenEvent("m", "a"), finishEvent("m"), doneEvent];
  rig.gpu.mode = { kind: "chunks", writes: [roleEvent("m"), { waitMs: 2 * stallMs }, ...rest] };
  const answer = await ask({ chain: "brisk", promptBytes: 3_000 });
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  assert.equal(answer.headers["x-llm-breaker-attempts"], "1");
});

test("a stall after more than a megabyte of tokens ends as one; whose fault it is nobody can tell", async () => {
  await outcomes.news();
  const part = tokenEvent("m", "x".repeat(134_500));
  const writes = Array.from({ length: 8 }, (): Write[] => [part, { waitMs: 350 }]).flat();
  rig.gpu.mode = { kind: "chunks", writes: [...writes, { waitMs: 9_000 }] };
  const answer = await ask({ chain: "brisk", timeoutMs: 8_000 });
  assert.equal(answer.complete, false);
  assert.equal(answer.body.length, 8 * part.length);
  assert.ok(answer.body.length > 1024 * 1024);
  assertWaited(answer.totalMs, 7 * 350 + stallMs - 250);
  assert.deepEqual(await outcomes.news(), { neutral: 1 });
});

test("a megabyte at once, then silence, may be a slow reader's: ended by the answer's limit, as nobody's fault", async () => {
  await outcomes.news();
  const part = tokenEvent("m", "x".repeat(40_000));
  const writes: Write[] = [tokenEvent("m", "a"), { waitMs: 100 }, ...Array.from({ length: 40 }, () => part)];
  rig.gpu.mode = { kind: "chunks", writes: [...writes, { waitMs: 9_000 }] };
  const answer = await ask({ chain: "brisk", timeoutMs: 8_000 });
  assert.equal(answer.complete, false);
  assertWaited(answer.totalMs, answerMs - 250);
  assert.deepEqual(await outcomes.news(), { neutral: 1 });
});

test("a slow upload is neither the first token's time nor that of the attempts", async () => {
  rig.gpu.mode = { kind: "ttft", ms: limitMs.gpu / 2 };
  const pauseMs = 1_200;
  const path = "/brisk/v1/chat/completions";
  const answer = await uploadSlowly(rig.url + path, bodyOf({}), pauseMs);
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  assert.equal(answer.headers["x-llm-breaker-attempts"], "1");
  rig.gpu.mode = { kind: "status", status: 500 };
  const moved = await uploadSlowly(rig.url + path, bodyOf({}), pauseMs);
  assert.equal(moved.headers["x-llm-breaker-backend"], "small");
});
