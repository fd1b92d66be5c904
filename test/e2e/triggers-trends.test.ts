import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { send } from "../support/client.js";
import { doneEvent, finishEvent, roleEvent, tokenEvent } from "../support/completion.js";
import type { Mode } from "../support/upstream-mode.js";
import { waitFor } from "../support/wait-for.js";
import { BackendUnderTest, type ExtraBackend, withBackends } from "./support/extra-backends.js";
import { type PushedGate, startPushedRig } from "./support/pushed-gate.js";
import { CLOSED, type Rig } from "./support/rig.js";
import { chainOf } from "./support/shipped-config.js";

const samples = 8;
const drift: ExtraBackend = {
  breaker: { latencyDriftThreshold: 3, latencyDriftMinimumSamples: samples },
  chain: { firstTokenTimeout: "4s", stallTimeout: "4s" },
};
/** A minute may cost 3/1440 of the budget: 2083 millionths, when a budget of one is given. */
const spending = (price: object, budgetPerDay = 1): ExtraBackend => ({
  breaker: { costRateThreshold: 3 },
  backend: { price, budgetPerDay },
});
const backends: Record<string, ExtraBackend> = {
  drift,
  kept: drift,
  together: drift,
  json: spending({ prompt: 100, completion: 200 }),
  events: spending({ completion: 1 }),
  counted: spending({ completion: 300 }),
  within: spending({ prompt: 100, completion: 200 }, 1_000),
  free: { breaker: { costRateThreshold: 3 }, backend: { price: { prompt: 100, completion: 200 } } },
  refused: spending({ prompt: 1_000, completion: 1_000 }),
};
const tickMs = 300;
const streamed = { stream: true };
let rig: Rig;
let gate: PushedGate;

before(async () => {
  ({ rig, gate } = await startPushedRig(withBackends(backends)));
});

after(async () => {
  await rig?.stop();
  gate?.remove();
});

const under = (alias: string) => BackendUnderTest.afterReset(rig, alias);

async function askOften(backend: BackendUnderTest, calls: number, mode: Mode): Promise<void> {
  rig.gpu.mode = mode;
  await Promise.all(Array.from({ length: calls }, () => backend.chat(streamed)));
  await sleep(tickMs);
}

describe("latencyDrift", () => {
  test("first tokens of a usual speed are learnt and open nothing; three times as late, they do", async () => {
    const backend = under("drift");
    await askOften(backend, samples, { kind: "ttft", ms: 300 });
    await askOften(backend, samples, { kind: "ttft", ms: 450 });
    assert.equal(await backend.state(), CLOSED);
    await askOften(backend, 3, { kind: "ttft", ms: 2_000 });
    await backend.waitForCause("LATENCY_DRIFT");
    assert.deepEqual(await backend.chats(1), ["small"]);
  });

  test("what was learnt is kept over a push", async () => {
    const backend = under("kept");
    await askOften(backend, samples, { kind: "ok" });
    const policy = structuredClone(gate.policy);
    chainOf(policy).maxAttempts = 3;
    await gate.push(rig, policy);
    // Without the baseline these would be the first that are learnt.
    await askOften(backend, samples, { kind: "ttft", ms: 1_500 });
    await backend.waitForCause("LATENCY_DRIFT");
  });

  test("a backend that was never faster is not drifting", async () => {
    const backend = under("together");
    await askOften(backend, samples, { kind: "ttft", ms: 700 });
    await askOften(backend, samples, { kind: "ttft", ms: 700 });
    assert.equal(await backend.state(), CLOSED);
    assert.equal(await backend.counter("slow"), 0);
  });
});

test("first tokens are a histogram of Envoy's", async () => {
  const backend = under("together");
  await askOften(backend, samples, { kind: "ttft", ms: 700 });
  // Envoy merges what workers have seen every five seconds.
  const median = () => medianOf("wasmcustom.llm_breaker.together.first_token_ms");
  const ms = await waitFor(median, 6_000, "a median");
  assert.ok(ms > 600 && ms < 1_000, `${ms} ms`);
});

/** Of all samples of a histogram; undefined without any. */
async function medianOf(name: string): Promise<number | undefined> {
  const { text } = await send(`${rig.envoy.adminUrl}/stats?usedonly&filter=${name}`);
  const [, median] = /P50\([^,]*,([\d.]+)\)/.exec(text) ?? [];
  return median === undefined ? undefined : Number(median);
}

describe("costRate", () => {
  const usage = (completionTokens: number) =>
    `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":${completionTokens}}}\n\n`;

  async function isOpenAfter(alias: string, calls: number, stream = false): Promise<boolean> {
    const backend = new BackendUnderTest(rig, alias);
    await backend.chats(calls, { stream });
    await sleep(tickMs);
    return backend.transitions().some(({ cause }) => cause === "COST_RATE");
  }

  test("JSON is charged by its usage: 8 + 4 tokens, 1600 millionths", async () => {
    rig.reset();
    assert.equal(await isOpenAfter("json", 1), false);
    assert.equal(await isOpenAfter("json", 1), true);
    assert.deepEqual(await under("json").chats(1), ["small"]);
  });

  test("a stream is charged by the usage of its last event", async () => {
    rig.reset();
    const play = (completionTokens: number): Mode => ({
      kind: "chunks",
      writes: [roleEvent("m"), tokenEvent("m", "a"), finishEvent("m"), usage(completionTokens), doneEvent],
    });
    rig.gpu.mode = play(2_083);
    assert.equal(await isOpenAfter("events", 1, true), false, "2083 is the limit itself");
    rig.gpu.mode = play(1);
    assert.equal(await isOpenAfter("events", 1, true), true, "one token more");
  });

  test("a stream without usage is charged a token for each event", async () => {
    rig.reset();
    rig.gpu.mode = { kind: "sse", events: 3 };
    assert.equal(await isOpenAfter("counted", 1, true), false, "900 to 1800");
    rig.gpu.mode = { kind: "sse", events: 20 };
    assert.equal(await isOpenAfter("counted", 1, true), true, "at least 6000");
  });

  test("within the budget, and without one, nothing opens", async () => {
    rig.reset();
    assert.equal(await isOpenAfter("within", 10), false);
    assert.equal(await isOpenAfter("free", 10), false);
  });

  test("errors cost nothing", async () => {
    rig.gpu.mode = { kind: "status", status: 400 };
    assert.equal(await isOpenAfter("refused", 3), false);
    rig.reset();
    assert.equal(await isOpenAfter("refused", 1), true);
  });
});
