import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import {
  type Alias,
  CLOSED,
  HALF_OPEN,
  OPEN,
  type Rig,
  recover,
  startRig,
  staysOpen,
} from "../e2e/support/rig.js";
import { chainOf, type PolicyJson } from "../e2e/support/shipped-config.js";
import { chat, send } from "../support/client.js";
import type { Mode } from "../support/upstream-mode.js";
import { waitFor } from "../support/wait-for.js";
import { addAloneChains, addAloneRoutes, askAlone, startAloneRig } from "./support/alone.js";

const baseMs = 600;
/** Its estimate of 1000 tokens, at 2 ms each, makes the first-token limit 2 s longer. */
const longPrompt = "x".repeat(3000);
const lateMs = 1500;
const late: Mode = { kind: "ttft", ms: lateMs };

function limits(policy: PolicyJson): void {
  Object.assign(chainOf(policy), {
    firstTokenTimeout: `${baseMs}ms`,
    firstTokenTimeoutPerPromptToken: "2ms",
    answerTimeout: "8s",
    stallTimeout: "5s",
  });
}

describe("OUT-4: a closed backend", () => {
  let rig: Rig;

  before(async () => {
    rig = await startRig({
      service: false,
      policy: (policy) => {
        limits(policy);
        addAloneChains(policy);
        Object.assign(policy.breaker, {
          consecutiveFailuresThreshold: 0,
          minimumNumberOfCalls: 10,
          failureRateThreshold: 35,
          ...staysOpen,
        });
      },
      patch: addAloneRoutes,
    });
  });

  beforeEach(() => rig.reset());

  after(() => rig.stop());

  for (const [where, mode] of [
    ["after early headers", late],
    ["with late headers", { kind: "ok", delayMs: lateMs }],
  ] as const) {
    // Mutation: filter/policy/policy.ts, "tokens * this.firstTokenTimeoutPerPromptTokenMs" -> "tokens * 0": this test fails.
    test(`(b) whose first token comes late on a long prompt, ${where}, has not failed`, async () => {
      const [success, failures] = await outcomes();
      rig.gpu.mode = mode;
      const answer = await chat(rig.url, { stream: true, prompt: longPrompt });
      assert.equal(answer.status, 200);
      assert.match(answer.text, /\[DONE\]/);
      assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
      assert.equal(answer.headers["x-llm-breaker-attempts"], "1");
      assert.deepEqual(await outcomes(), [success + 1, failures]);
    });

    test(`(c) whose first token comes as late on a short prompt, ${where}, has, by the limit`, async () => {
      const [success, failures] = await outcomes();
      rig.gpu.mode = mode;
      const answer = await chat(rig.url, { stream: true, prompt: "a question of twenty tokens at most" });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers["x-llm-breaker-backend"], "small");
      assert.ok(answer.totalMs < lateMs, `answered after ${answer.totalMs} ms`);
      assert.deepEqual(await outcomes(), [success, failures + 1]);
    });
  }

  test("(a) that sends headers and no body ends by its limit, and opens though its health answers 200", async () => {
    const isHealth = (path: string): boolean => /\/(health|v1\/models)$/.test(path);
    rig.gpu.mode = ({ path }) => (isHealth(path) ? { kind: "ok" } : { kind: "stall" });
    for (let call = 0; (await rig.state()) === CLOSED; call++) {
      assert.ok(call < 20, "20 stalled streams did not open it");
      for (const path of ["/health", "/v1/models"]) {
        assert.equal((await send(`${rig.gpu.url}${path}`)).status, 200);
      }
      const silent = await Promise.all([1, 2, 3, 4].map(() => askAlone(rig, "gpu", { stream: true })));
      // A health check through the gateway is a success among the failures, and does not hide them.
      assert.equal((await send(`${rig.url}/v1/models`)).status, 200);
      for (const answer of silent) {
        assert.ok(answer.status >= 500, `${answer.status} ${answer.text}`);
        assert.equal(typeof JSON.parse(answer.text).error.message, "string");
        assert.ok(answer.totalMs >= baseMs - 50 && answer.totalMs < baseMs + 900, `${answer.totalMs} ms`);
      }
    }
    assert.equal(await rig.state(), OPEN);
    assert.equal((await send(`${rig.gpu.url}/health`)).status, 200);
    assert.equal((await chat(rig.url, { stream: true })).headers["x-llm-breaker-backend"], "small");
  });

  async function outcomes(): Promise<[success: number, failure: number]> {
    return [await rig.counter("gpu", "outcome.success"), await rig.counter("gpu", "outcome.failure")];
  }
});

test("OUT-4: (c) in time but slow opens by the slow rule, which grants a long prompt its share as well", async () => {
  const rig = await startAloneRig(
    {
      slowFirstTokenThreshold: "300ms",
      slowFirstTokenPerPromptToken: "2ms",
      slowCallRateThreshold: 40,
      minimumNumberOfCalls: 10,
    },
    { chain: { firstTokenTimeout: "4s" } },
  );
  try {
    const tenOf = (alias: Alias, prompt: string) =>
      Promise.all(Array.from({ length: 10 }, () => askAlone(rig, alias, { stream: true, prompt })));
    for (const upstream of [rig.gpu, rig.small]) upstream.mode = { kind: "ttft", ms: 700 };
    for (const answer of await tenOf("small", longPrompt)) assert.equal(answer.status, 200);
    for (const answer of await tenOf("gpu", "hi")) assert.equal(answer.status, 200);
    assert.equal((await rig.waitForCause("SLOW_CALL_RATE")).to, "OPEN");
    assert.equal(await rig.counter("gpu", "outcome.failure"), 0);
    assert.equal(await rig.state("small"), CLOSED);
  } finally {
    await rig.stop();
  }
});

describe("OUT-4: the only permit of a half-open backend", () => {
  let rig: Rig;

  before(async () => {
    rig = await startRig({
      service: false,
      policy: (policy) => {
        limits(policy);
        policy.breaker.ramp = [{ percent: 100, maxConcurrent: 1, successes: 3 }];
        policy.breaker.canary = { size: "estimate", maxPromptTokens: 4096, noDrawAfter: "0s" };
      },
    });
  });

  beforeEach(async () => {
    rig.reset();
    await recover(rig, () => chat(rig.url));
    await reachRamp();
    rig.gpu.reset();
  });

  after(() => rig.stop());

  async function reachRamp(): Promise<void> {
    rig.gpu.mode = { kind: "sseError", at: 0 };
    await chat(rig.url, { stream: true });
    rig.gpu.mode = { kind: "ok" };
    await waitFor(() => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED", 10_000, "the ramp");
  }

  async function assertPermitIsFree(): Promise<void> {
    rig.reset();
    assert.equal((await chat(rig.url)).headers["x-llm-breaker-backend"], "gpu");
  }

  for (const [what, mode, prompt] of [
    ["(a) silence after the headers", { kind: "stall" }, "hi"],
    ["(c) a late first token on a short prompt", late, "hi"],
  ] as const) {
    test(`is free again after ${what}, and that canary has failed`, async () => {
      rig.gpu.mode = mode;
      const canary = await chat(rig.url, { stream: true, prompt });
      assert.equal(canary.headers["x-llm-breaker-backend"], "small");
      assert.equal(rig.transitions().at(-1)?.cause, "CANARY_FAILED");
      rig.gpu.mode = { kind: "ok" };
      await waitFor(() => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED", 10_000, "the next ramp");
      await assertPermitIsFree();
    });
  }

  test("is free again after (b) a late first token on a long prompt, and that canary has succeeded", async () => {
    rig.gpu.mode = late;
    const canary = await chat(rig.url, { stream: true, prompt: longPrompt });
    assert.equal(canary.headers["x-llm-breaker-backend"], "gpu");
    assert.match(canary.text, /\[DONE\]/);
    assert.equal(await rig.state(), HALF_OPEN);
    await assertPermitIsFree();
    assert.equal((await chat(rig.url)).headers["x-llm-breaker-backend"], "gpu");
    await rig.waitForState(CLOSED);
  });
});
