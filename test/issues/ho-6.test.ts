import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CLOSED, isProbe, OPEN, type Rig, recover, startRig } from "../e2e/support/rig.js";
import type { PolicyJson } from "../e2e/support/shipped-config.js";
import { chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: ({ breaker }) => {
      breaker.minimumNumberOfCalls = 100;
      breaker.waitDurationInOpenState = "500ms";
      breaker.maxWaitDurationInOpenState = "500ms";
      breaker.ramp = [{ percent: 100, maxConcurrent: 2, successes: 2 }];
    },
  });
});

after(() => rig.stop());

const isInRamp = () => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED";

async function openAndReachRamp(): Promise<void> {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  rig.gpu.mode = { kind: "ok" };
  await waitFor(isInRamp, 10_000, "the ramp");
}

test("HO-6: two good canaries close, whatever the minimum number of calls", async () => {
  await openAndReachRamp();
  await chat(rig.url);
  await chat(rig.url);
  assert.equal(await rig.state(), CLOSED);
  assert.equal(rig.transitions().at(-1)?.cause, "RAMP_COMPLETE");
});

test("HO-6: one failed canary opens again with a fresh wait, and later successes do not forget it", async () => {
  await openAndReachRamp();
  const failOnce = { failed: false };
  rig.gpu.mode = ({ body }) => {
    if (isProbe(body) || failOnce.failed) return { kind: "ok" };
    failOnce.failed = true;
    return { kind: "status", status: 500 };
  };
  const answer = await chat(rig.url);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  const reopening = rig.transitions().at(-1);
  assert.equal(reopening?.cause, "CANARY_FAILED");
  assert.equal(await rig.state(), OPEN);
  assert.ok((reopening?.waitMs ?? 0) >= 500, `waits ${reopening?.waitMs} ms`);
  rig.gpu.reset();
  await chat(rig.url);
  await chat(rig.url);
  assert.equal(rig.gpu.arrivals.filter(({ body }) => !isProbe(body)).length, 0);
  await recover(rig, () => chat(rig.url));
});

// Mutation: filter/breaker/breaker.ts, "if (isDead || generation !== record.generation)" in onOutcome -> "if (isDead)": this test fails.
test("HO-6: failures of streams from before the opening do not open what has closed since", async () => {
  const late = await rig.counter("gpu", "outcome.late");
  const firstToken = 'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n';
  rig.gpu.mode = { kind: "chunks", writes: [firstToken, { waitMs: 1_400 }, firstToken, { waitMs: 1_400 }] };
  const old = Array.from({ length: 6 }, () => chat(rig.url, { stream: true }));
  await waitFor(() => rig.gpu.active === 6, 5_000, "the old streams");
  await openAndReachRamp();
  await recover(rig, () => chat(rig.url));
  const transitions = rig.transitions().length;
  assert.equal(await rig.counter("gpu", "outcome.late"), late, "an old stream ended too early");
  for (const { complete } of await Promise.all(old)) assert.equal(complete, false);
  await rig.waitForCounter("gpu", "outcome.late", late + 6);
  assert.equal(await rig.state(), CLOSED);
  assert.equal(rig.transitions().length, transitions);
});

test("HO-6: more permits than the breaker can keep track of are refused at the start, by name", async () => {
  const policy = ({ breaker }: PolicyJson): void => {
    breaker.ramp = [{ percent: 100, maxConcurrent: 17, successes: 2 }];
  };
  await assert.rejects(
    startRig({ service: false, policy }),
    /the policy is refused.*ramp\[0\]\.maxConcurrent/,
  );
});
