import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { CLOSED, HALF_OPEN, type Rig, recover, startRig } from "./support/rig.js";
import { chainOf } from "./support/shipped-config.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: (policy) => {
      const { breaker } = policy;
      breaker.ramp = [{ percent: 100, maxConcurrent: 1, successes: 1 }];
      breaker.canary = { size: "estimate", permitTimeout: "2s" };
      chainOf(policy).answerTimeout = "20s";
      chainOf(policy).firstTokenTimeout = "5s";
    },
  });
});

beforeEach(async () => {
  rig.reset();
  await recover(rig, () => chat(rig.url));
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  rig.gpu.mode = { kind: "ok" };
  await waitFor(() => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED", 10_000, "the ramp");
  rig.reset();
});

after(() => rig.stop());

test("a canary whose answer flows for longer than its permit's deadline keeps it, and its success counts", async () => {
  rig.gpu.mode = { kind: "sse", events: 40, gapMs: 100 };
  const canary = chat(rig.url, { stream: true });
  await waitFor(() => rig.gpu.active === 1, 5_000, "the canary");
  const meanwhile = setInterval(() => void chat(rig.url), 300);
  const answer = await canary;
  clearInterval(meanwhile);
  assert.ok(answer.complete);
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  assert.ok(rig.gpu.peak <= 1, `${rig.gpu.peak} canaries at once`);
  await rig.waitForState(CLOSED);
});

test("a canary that is silent for longer than its permit's deadline keeps it, and its failure counts", async () => {
  rig.gpu.mode = { kind: "hang" };
  const silent = chat(rig.url, { stream: true });
  await waitFor(() => rig.gpu.active === 1, 5_000, "the canary");
  const meanwhile = setInterval(() => void chat(rig.url), 300);
  const answer = await silent;
  clearInterval(meanwhile);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  assert.equal(rig.gpu.peak, 1);
  await waitFor(() => rig.transitions().some(({ cause }) => cause === "CANARY_FAILED"), 3_000, "the verdict");
});

test("a canary whose caller leaves gives its permit to the next one at once", async () => {
  rig.gpu.mode = ({ index }) => (index === 0 ? { kind: "hang" } : { kind: "ok" });
  await chat(rig.url, { leaveAfterMs: 1_000 });
  assert.equal(await rig.state(), HALF_OPEN);
  const next = await chat(rig.url);
  assert.equal(next.headers["x-llm-breaker-backend"], "gpu");
  await rig.waitForState(CLOSED);
});
