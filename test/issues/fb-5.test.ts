import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuNanoseconds } from "../../bench/cpu-time.js";
import { type Alias, isProbe, OPEN, type Rig, recover, startRig } from "../e2e/support/rig.js";
import { chainOf } from "../e2e/support/shipped-config.js";
import { type Answer, chat } from "../support/client.js";
import { addAloneChains, addAloneRoutes, askAlone } from "./support/alone.js";

const waitMs = 1_000;
let rig: Rig;

before(async () => {
  rig = await startRig({
    policy: (policy) => {
      Object.assign(policy.breaker, {
        waitDurationInOpenState: `${waitMs}ms`,
        maxWaitDurationInOpenState: `${waitMs}ms`,
        ramp: [{ percent: 100, maxConcurrent: 2, successes: 2 }],
      });
      chainOf(policy).tiers = ["gpu", "small"];
      addAloneChains(policy);
    },
    patch: addAloneRoutes,
  });
});

beforeEach(async () => {
  rig.reset();
  for (const alias of ["gpu", "small"] as const) await closed(alias);
  rig.reset();
});

after(() => rig?.stop());

const dies = {
  kind: "sseError",
  at: 3,
  error: { message: "EngineCore encountered an issue.", code: 500 },
} as const;
const dead = { ...dies, at: 0 } as const;

/** Callers' requests that a backend got; the breaker's own probes left out. */
const callersAt = (alias: "gpu" | "small"): number =>
  rig[alias].arrivals.filter(({ body }) => !isProbe(body)).length;

function closed(alias: Alias): Promise<void> {
  return recover(rig, () => askAlone(rig, alias), alias);
}

function assertRefusedAtOnce(answer: Answer): void {
  assert.equal(answer.status, 503, answer.text);
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(answer.headers["x-llm-breaker-reason"], "exhausted");
  assert.ok(Number(answer.headers["retry-after"]) >= 1);
  assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_exhausted");
  assert.ok(answer.totalMs < 300, `refused after ${answer.totalMs} ms`);
}

/** Share of one core, in percent, that a process takes for itself while nobody asks for anything. */
async function idlePercent(pid: number): Promise<number> {
  const before = cpuNanoseconds(pid);
  const beganMs = performance.now();
  await sleep(1_000);
  return (cpuNanoseconds(pid) - before) / 1e4 / (performance.now() - beganMs);
}

async function assertIdle(): Promise<void> {
  const pids = [rig.envoy.pid, rig.service?.pid ?? assert.fail("no service")];
  const shares = await Promise.all(pids.map(idlePercent));
  for (const share of shares) assert.ok(share < 10, `Envoy and the service take ${shares} % of a core`);
}

// Mutation: filter/choose.ts, "if (allowed === Permission.PERMITTED)" -> "if (true)": this test and the next fail.
test("FB-5 (a): an error in mid-stream without a fallback: one fast 503 after another, and nobody works", async () => {
  rig.gpu.mode = dies;
  const broken = await askAlone(rig, "gpu", { stream: true });
  assert.match(broken.text, /EngineCore/);
  assert.equal(await rig.state(), OPEN);
  rig.gpu.mode = dead;
  for (let call = 0; call < 5; call++)
    assertRefusedAtOnce(await askAlone(rig, "gpu", { stream: call % 2 === 0 }));
  assert.equal(callersAt("gpu"), 1);
  await assertIdle();
});

test("FB-5 (b): the fallback is open too: a fast 503, and neither is asked", async () => {
  rig.gpu.mode = dead;
  rig.small.mode = dead;
  await chat(rig.url, { stream: true });
  assert.deepEqual([await rig.state("gpu"), await rig.state("small")], [OPEN, OPEN]);
  for (let call = 0; call < 5; call++) assertRefusedAtOnce(await chat(rig.url));
  assert.deepEqual([callersAt("gpu"), callersAt("small")], [1, 1]);
  await assertIdle();
});

test("FB-5: a target that trips is not tried again by the request that tripped it", async () => {
  rig.gpu.mode = dead;
  const answer = await chat(rig.url, { stream: true });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  assert.equal(answer.headers["x-llm-breaker-tried"], "gpu=engineFatal");
  assert.deepEqual([callersAt("gpu"), callersAt("small")], [1, 1]);
});

// Mutation: filter/policy/parse-chain.ts, "tiers.includes(backend)" -> "false": this test fails.
test("FB-5 (c, d): circles are no policy", async () => {
  const start = startRig({
    service: false,
    policy: (policy) => {
      policy.chains.circle = { tiers: ["gpu", "small", "gpu"] };
      policy.chains.self = { tiers: ["gpu", "gpu"] };
    },
  });
  const why = await start.then(
    async (running) => {
      await running.stop();
      return "it started";
    },
    (error: unknown) => String(error),
  );
  assert.ok(why.includes('chains.circle.tiers[2] names "gpu" twice'), why);
  assert.ok(why.includes('chains.self.tiers[1] names "gpu" twice'), why);
});

// There is no such wish here: who must not fall back takes a route whose chain has one tier. What other gateways take for
// one is the backend's to read, and comes to it as it was sent.
test("FB-5 (e): a caller's wish for no fallback is a field like any other", async () => {
  rig.gpu.mode = { kind: "status", status: 500 };
  const wish = { disable_fallbacks: true };
  const answer = await chat(rig.url, { extra: wish });
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  for (const { body } of [...rig.gpu.arrivals, ...rig.small.arrivals]) {
    if (!isProbe(body)) assert.equal(JSON.parse(body.toString()).disable_fallbacks, true);
  }
  const refused = await askAlone(rig, "gpu", { extra: wish });
  assert.equal(refused.status, 500);
  assert.equal(callersAt("small"), 1);
});

test("FB-5 (f): both recover: A serves again after its wait and its trials, and nothing keeps it out", async () => {
  rig.gpu.mode = dead;
  rig.small.mode = dead;
  await chat(rig.url, { stream: true });
  assert.deepEqual([await rig.state("gpu"), await rig.state("small")], [OPEN, OPEN]);
  const beganMs = performance.now();
  rig.gpu.mode = { kind: "ok" };
  rig.small.mode = { kind: "ok" };
  await closed("gpu");
  // The wait with its jitter, a tick for the probe, two canaries.
  const tookMs = performance.now() - beganMs;
  assert.ok(tookMs < waitMs * 1.2 + 2_000, `back after ${tookMs} ms`);
  rig.gpu.reset();
  for (let call = 0; call < 20; call++) {
    assert.equal((await chat(rig.url)).headers["x-llm-breaker-backend"], "gpu");
  }
});
