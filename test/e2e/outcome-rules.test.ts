import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { roleEvent, tokenEvent } from "../support/completion.js";
import type { Mode } from "../support/upstream-mode.js";
import { answererOf, BackendUnderTest, type ExtraBackend, withBackends } from "./support/extra-backends.js";
import { CLOSED, OPEN, type Rig, startRig } from "./support/rig.js";
import { clusterOf } from "./support/shipped-config.js";

/** How a backend fails, by the name of its weight. */
const failures: Readonly<Record<string, { mode: Mode; stream?: boolean }>> = {
  status: { mode: { kind: "status", status: 500 } },
  reset: { mode: { kind: "reset" } },
  timeout: { mode: { kind: "hang" }, stream: true },
  stall: {
    mode: { kind: "chunks", writes: [roleEvent("m"), tokenEvent("m", "a"), { waitMs: 2_000 }] },
    stream: true,
  },
  cut: { mode: { kind: "cut", at: 2, how: "rst", gapMs: 10 }, stream: true },
  error: { mode: { kind: "sseError", at: 0, error: { message: "no luck", code: 500 } }, stream: true },
};
const hasty = { firstTokenTimeout: "300ms", firstTokenTimeoutPerPromptToken: "0ms", stallTimeout: "500ms" };
const rate = { failureRateThreshold: 35, minimumNumberOfCalls: 5 };
const row = { consecutiveFailuresThreshold: 2 };
const backends: Record<string, ExtraBackend> = {
  "no-connect": { breaker: { ...row, weights: { connect: 0 } } },
  connect: { breaker: row },
  half: { breaker: { ...rate, weights: { timeout: 0.5 } }, chain: hasty },
  double: { breaker: { ...rate, weights: { status: 2 } } },
  "fatal-weightless": { breaker: { engineFatal: true, weights: { engineFatal: 0 } } },
  missing: { breaker: { ...row, outcomes: { failure: [404] } } },
  spared: { breaker: { ...row, outcomes: { neutral: [503] } } },
  classes: { breaker: { ...row, outcomes: { failure: ["4xx"], neutral: ["5xx"] } } },
  others: {
    breaker: {
      outOfMemoryThreshold: 1,
      engineFatal: true,
      outcomes: { backpressure: [420], success: [404], engineFatal: [599], outOfMemory: [507] },
    },
  },
  memory: { breaker: { outOfMemoryThreshold: 2, outcomes: { outOfMemory: [507] } } },
  inheriting: {},
  "in-place": { breaker: { outcomes: { failure: [409] } } },
};
for (const kind of Object.keys(failures)) {
  backends[`no-${kind}`] = { breaker: { ...row, weights: { [kind]: 0 } }, chain: hasty };
}
let rig: Rig;

before(async () => {
  rig = await startRig({
    concurrency: 1,
    ...withBackends(backends, {
      policy: (policy) => {
        policy.breaker.outcomes = { failure: [418] };
      },
      patch: (config) => {
        for (const alias of ["connect", "no-connect"]) {
          for (const endpoints of clusterOf(config, alias).load_assignment.endpoints.slice(0, 1)) {
            endpoints.lb_endpoints = [];
          }
        }
      },
    }),
  });
});

after(() => rig?.stop());

const under = (alias: string) => BackendUnderTest.afterReset(rig, alias);

const status = (code: number, body?: string): Mode => ({
  kind: "status",
  status: code,
  ...(body && { body }),
});

describe("a failure's weight is its kind's", () => {
  for (const [kind, { mode, stream }] of Object.entries(failures)) {
    test(`${kind} of weight 0 is no failure, and others still are`, async () => {
      const backend = under(`no-${kind}`);
      rig.gpu.mode = mode;
      await Promise.all([1, 2, 3].map(() => backend.chat({ stream: stream ?? false })));
      assert.equal(await backend.counter("outcome.failure"), 3);
      assert.equal(await backend.state(), CLOSED);
      rig.gpu.mode = kind === "status" ? { kind: "reset" } : status(500);
      await backend.chats(2);
      assert.equal(await backend.state(), OPEN);
    });
  }

  test("connect of weight 0 is no failure", async () => {
    const weightless = under("no-connect");
    assert.deepEqual(await weightless.chats(3), ["small", "small", "small"]);
    assert.equal(await weightless.state(), CLOSED);
    const weighty = under("connect");
    await weighty.chats(2);
    assert.equal(await weighty.state(), OPEN);
  });

  test("timeouts of weight 0.5 need twice as many", async () => {
    const backend = under("half");
    await backend.chats(2);
    rig.gpu.mode = { kind: "hang" };
    const late = (calls: number) =>
      Promise.all(Array.from({ length: calls }, () => backend.chat({ stream: true })));
    await late(4);
    assert.equal(await backend.state(), CLOSED, "2 of 6");
    await late(1);
    assert.equal((await backend.waitForCause("FAILURE_RATE")).to, "OPEN", "2.5 of 7");
  });

  test("a weight of 2 makes one failure count for two", async () => {
    const backend = under("double");
    await backend.chats(4);
    rig.gpu.mode = status(500);
    await backend.chats(1);
    assert.equal((await backend.waitForCause("FAILURE_RATE")).to, "OPEN", "2 of 5");
  });

  test("a dead engine opens by its own switch, whatever its weight", async () => {
    const backend = under("fatal-weightless");
    rig.gpu.mode = { kind: "sseError", at: 0 };
    await backend.chats(1, { stream: true });
    await backend.waitForCause("ENGINE_FATAL");
  });
});

describe("outcomes: which statuses count as what", () => {
  test("a 404 that is a failure goes to the next tier, and opens", async () => {
    const backend = under("missing");
    for (const body of ["gone", '{"error":{"message":"gone"}}']) {
      rig.gpu.mode = status(404, body);
      const answer = await backend.chat();
      assert.equal(answererOf(answer), "small");
      assert.equal(answer.headers["x-llm-breaker-tried"], "missing=404");
    }
    assert.equal((await backend.waitForCause("CONSECUTIVE_FAILURES")).to, "OPEN");
  });

  test("a 503 that is neutral is the caller's own answer, and counts for nothing", async () => {
    const backend = under("spared");
    const body = '{"error":{"message":"closed on Sundays"}}';
    rig.gpu.mode = status(503, body);
    for (let call = 0; call < 3; call++) {
      const answer = await backend.chat();
      assert.equal(answer.status, 503);
      assert.equal(answer.text, body);
      assert.equal(answererOf(answer), "spared");
    }
    assert.equal(await backend.counter("outcome.neutral"), 3);
    assert.equal(await backend.state(), CLOSED);
    assert.equal(rig.small.arrivals.length, 0);
  });

  test("a class stands for all its statuses", async () => {
    const backend = under("classes");
    rig.gpu.mode = status(599);
    assert.equal((await backend.chat()).status, 599);
    rig.gpu.mode = status(499);
    assert.equal((await backend.chat()).status, 200);
    rig.gpu.mode = status(400);
    assert.equal((await backend.chat()).status, 200);
    assert.equal(await backend.counter("outcome.neutral"), 1);
    assert.equal(await backend.counter("outcome.failure"), 2);
    assert.equal(await backend.state(), OPEN);
  });

  test("success, backpressure, outOfMemory and engineFatal can be had by a status", async () => {
    const backend = under("others");
    rig.gpu.mode = status(404);
    assert.equal((await backend.chat()).status, 404);
    assert.equal(await backend.counter("outcome.success"), 1);
    rig.gpu.mode = status(420);
    assert.deepEqual(await backend.chats(1), ["small"]);
    assert.equal(await backend.counter("outcome.backpressure"), 1);
    rig.gpu.mode = status(599);
    await backend.chats(1);
    await backend.waitForCause("ENGINE_FATAL");
    const memory = under("memory");
    rig.gpu.mode = status(507);
    await memory.chats(1);
    assert.equal(await memory.state(), CLOSED);
    await memory.chats(1);
    await memory.waitForCause("OUT_OF_MEMORY");
  });

  test("a backend's own list stands in place of the shared one", async () => {
    const inheriting = under("inheriting");
    rig.gpu.mode = status(418);
    assert.deepEqual(await inheriting.chats(1), ["small"]);
    const own = new BackendUnderTest(rig, "in-place");
    assert.equal((await own.chat()).status, 418);
    rig.gpu.mode = status(409);
    assert.deepEqual(await own.chats(1), ["small"]);
  });
});
