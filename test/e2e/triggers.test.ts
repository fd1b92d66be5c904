import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Mode } from "../support/upstream-mode.js";
import { BackendUnderTest, type ExtraBackend, withBackends } from "./support/extra-backends.js";
import { CLOSED, OPEN, type Rig, startRig } from "./support/rig.js";

interface Step {
  readonly mode: Mode;
  readonly stream?: boolean;
}

interface Scenario extends ExtraBackend {
  readonly cause: string;
  /** One call each; the last one trips the trigger, and none before it. */
  readonly steps: readonly Step[];
  /** The trigger is judged at ticks, by what came since the last one. */
  readonly byTick?: boolean;
}

const ok: Step = { mode: { kind: "ok" } };
const good: Step = { mode: { kind: "ok" }, stream: true };
const failed: Step = { mode: { kind: "status", status: 500 } };
const late: Step = { mode: { kind: "ttft", ms: 1_000 }, stream: true };
const busy: Step = { mode: { kind: "status", status: 429 } };
const dead: Step = { mode: { kind: "sseError", at: 0 }, stream: true };
const outOfMemory: Step = {
  mode: {
    kind: "status",
    status: 500,
    body: '{"error":{"message":"CUDA out of memory. Tried to allocate 2.00 GiB.","code":500}}',
  },
};
const patient = { firstTokenTimeout: "3s" };

const scenarios: Readonly<Record<string, Scenario>> = {
  failureRate: {
    cause: "FAILURE_RATE",
    breaker: { failureRateThreshold: 50 },
    steps: [ok, ok, failed, failed],
  },
  slowCallRate: {
    cause: "SLOW_CALL_RATE",
    breaker: { slowCallRateThreshold: 50, slowFirstTokenThreshold: "700ms", minimumNumberOfCalls: 2 },
    chain: patient,
    steps: [good, late],
    byTick: true,
  },
  consecutiveFailures: {
    cause: "CONSECUTIVE_FAILURES",
    breaker: { consecutiveFailuresThreshold: 3 },
    steps: [failed, failed, ok, failed, failed, failed],
  },
  failureCount: {
    cause: "FAILURE_COUNT",
    breaker: { failureCountThreshold: 3 },
    steps: [ok, failed, ok, ok, failed, ok, ok, failed],
  },
  latencyDrift: {
    cause: "LATENCY_DRIFT",
    breaker: { latencyDriftThreshold: 3, latencyDriftMinimumSamples: 5 },
    chain: patient,
    steps: [good, good, good, good, good, late],
    byTick: true,
  },
  costRate: {
    cause: "COST_RATE",
    // 1600 millionths a call; a minute may cost 1 / 1440 × 3, which is 2083.
    breaker: { costRateThreshold: 3 },
    backend: { price: { prompt: 100, completion: 200 }, budgetPerDay: 1 },
    steps: [ok, ok],
    byTick: true,
  },
  engineFatal: {
    cause: "ENGINE_FATAL",
    breaker: { engineFatal: true },
    steps: [ok, dead],
  },
  outOfMemory: {
    cause: "OUT_OF_MEMORY",
    breaker: { outOfMemoryThreshold: 2 },
    steps: [outOfMemory, ok, outOfMemory],
  },
  backpressure: {
    cause: "BACKPRESSURE",
    breaker: { backpressureRateThreshold: 80 },
    steps: [ok, busy, busy, busy, busy],
  },
};

const names = Object.keys(scenarios);
const reporting = (name: string) => `${name}-report`;
const tickMs = 300;
let rig: Rig;

before(async () => {
  const backends: Record<string, ExtraBackend> = { ...scenarios };
  for (const [name, { breaker, backend, chain }] of Object.entries(scenarios)) {
    backends[reporting(name)] = {
      breaker: { ...breaker, enforcingPercent: { [name]: 0 } },
      ...(backend && { backend }),
      ...(chain && { chain }),
    };
  }
  rig = await startRig({ concurrency: 1, ...withBackends(backends) });
});

after(() => rig?.stop());

async function trip(backend: BackendUnderTest, { steps, byTick }: Scenario): Promise<void> {
  for (const [index, { mode, stream }] of steps.entries()) {
    if (index === steps.length - 1) {
      if (byTick) await sleep(tickMs);
      assert.equal(await backend.state(), CLOSED, `${backend.alias} opened too early`);
      assert.deepEqual(backend.reports(), []);
    }
    rig.gpu.mode = mode;
    assert.equal((await backend.chat({ stream: stream ?? false })).status, 200);
  }
  rig.reset();
}

describe("a trigger opens by the very call that fills its measure, and tells its cause", () => {
  for (const [name, scenario] of Object.entries(scenarios)) {
    test(name, async () => {
      const backend = new BackendUnderTest(rig, name);
      await trip(backend, scenario);
      await backend.waitForCause(scenario.cause);
      assert.equal(await backend.state(), OPEN);
      assert.deepEqual(await backend.chats(2), ["small", "small"]);
      assert.equal(rig.gpu.arrivals.length, 0);
    });
  }
});

describe("a trigger with enforcingPercent 0 reports and opens nothing", () => {
  for (const [name, scenario] of Object.entries(scenarios)) {
    test(name, async () => {
      const backend = new BackendUnderTest(rig, reporting(name));
      await trip(backend, scenario);
      await backend.waitForReport(scenario.cause);
      assert.equal(await backend.state(), CLOSED);
      assert.deepEqual(await backend.chats(2), [backend.alias, backend.alias]);
      assert.deepEqual(backend.transitions(), []);
    });
  }

  test("each is told once, and counted", async () => {
    const stats = await rig.envoy.stats("llm_breaker\\..*-report\\.(reported|opened)$");
    for (const name of names) {
      const prefix = `wasmcustom.llm_breaker.${reporting(name)}`;
      assert.equal(stats.get(`${prefix}.reported`), 1, name);
      assert.equal(stats.get(`${prefix}.opened`) ?? 0, 0, name);
      assert.equal(new BackendUnderTest(rig, reporting(name)).reports().length, 1, name);
    }
  });
});
