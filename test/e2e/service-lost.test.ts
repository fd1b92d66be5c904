import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { isProbe, type Rig, startRig } from "./support/rig.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    policy: ({ breaker }) => {
      // Plain failures are for probing who is a failover target; only a dead engine opens.
      breaker.consecutiveFailuresThreshold = 0;
      breaker.failureRateThreshold = 0;
      breaker.ramp = [{ percent: 100, maxConcurrent: 2, successes: 50 }];
      breaker.canary = { size: "count", maxPromptTokens: 256, maxOutputTokens: 1024 };
    },
  });
});

after(() => rig.stop());

const canariesSeen = () => rig.gpu.arrivals.filter(({ body }) => !isProbe(body)).length;

async function failoversOf(calls: number): Promise<(string | string[] | undefined)[]> {
  rig.gpu.mode = { kind: "status", status: 500 };
  const answers = await Promise.all(Array.from({ length: calls }, () => chat(rig.url)));
  rig.gpu.mode = { kind: "ok" };
  return answers.map(({ headers }) => headers["x-llm-breaker-backend"]);
}

/** Until every worker takes the service for dead, so that no tier is asked that needs it, not even in vain. */
async function whenTaken(forWhat: "dead" | "alive"): Promise<void> {
  const all = async (): Promise<boolean> => {
    rig.reset();
    const backends = await failoversOf(8);
    if (forWhat === "dead") return rig.small.arrivals.length + rig.public_.arrivals.length === 0;
    return backends.every((backend) => backend === "small");
  };
  await waitFor(all, 12_000, `the service taken for ${forWhat}`);
  rig.reset();
}

function assertRefusedAtOnce(answer: Answer): void {
  assert.equal(answer.status, 503, answer.text);
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_exhausted");
  assert.ok(answer.totalMs < 700, `refused after ${answer.totalMs} ms`);
}

test("Closed: traffic goes on while the service hangs, and tiers that need it are skipped", async () => {
  rig.service?.signal("SIGSTOP");
  assert.equal((await chat(rig.url)).headers["x-llm-breaker-backend"], "gpu");
  await whenTaken("dead");
  for (let call = 0; call < 10; call++) {
    const answer = await chat(rig.url, { stream: call % 2 === 0 });
    assert.equal(answer.status, 200);
    assert.ok(answer.totalMs < 1_000, `answered after ${answer.totalMs} ms`);
  }
  assert.deepEqual(rig.hits, [10, 0, 0]);
});

test("Closed: with no tier left the caller gets the backend's own answer, not an unrewritten fallback's", async () => {
  rig.gpu.mode = { kind: "status", status: 500, body: '{"error":{"message":"its own"}}' };
  const answer = await chat(rig.url);
  assert.equal(answer.status, 500);
  assert.equal(answer.text, '{"error":{"message":"its own"}}');
  assert.deepEqual(rig.hits.slice(1), [0, 0]);
});

test("once the service is back the tiers that need it are used again, rewritten", async () => {
  rig.service?.signal("SIGCONT");
  await whenTaken("alive");
  assert.deepEqual(new Set(await failoversOf(4)), new Set(["small"]));
  for (const { body } of rig.small.arrivals) assert.equal(JSON.parse(body.toString()).model, "qwen3-4b");
});

test("Half-open: no canary while the service hangs, freshly or for long; requests are served or refused by JSON", async () => {
  rig.reset();
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  rig.gpu.mode = ({ body }) => (isProbe(body) ? { kind: "ok" } : { kind: "status", status: 400 });
  await waitFor(() => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED", 10_000, "the ramp");
  const canary = await chat(rig.url);
  assert.equal(canary.headers["x-llm-breaker-backend"], "gpu", "a canary passes while the service is well");
  rig.service?.signal("SIGSTOP");
  rig.gpu.reset();
  const fresh = await Promise.all(Array.from({ length: 4 }, () => chat(rig.url)));
  for (const answer of fresh) assert.equal(typeof JSON.parse(answer.text), "object");
  assert.equal(canariesSeen(), 0);
  await sleep(4_000);
  for (let call = 0; call < 4; call++) {
    const answer = await chat(rig.url);
    assert.equal(answer.status, 503);
    assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_exhausted");
  }
  assert.equal(canariesSeen(), 0);
  for (const arrival of rig.public_.arrivals)
    assert.equal(arrival.bodyBytes, 0, "no body that was not rewritten");
});

test("a killed service is like one that hangs: half-open goes on refusing, at once", async () => {
  rig.service?.signal("SIGKILL");
  await waitFor(() => rig.service?.exit, 5_000, "the service's end");
  rig.gpu.reset();
  for (let call = 0; call < 10; call++) assertRefusedAtOnce(await chat(rig.url));
  assert.equal(canariesSeen(), 0);
});
