import assert from "node:assert/strict";
import { request as openRequest } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { chat } from "../support/client.js";
import { doneEvent, finishEvent, tokenEvent } from "../support/completion.js";
import { waitFor } from "../support/wait-for.js";
import { balanceExactly, neverOpen, type Rig, recover, startRig } from "./support/rig.js";
import { chainOf } from "./support/shipped-config.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    concurrency: 4,
    patch: balanceExactly,
    policy: (policy) => {
      neverOpen(policy);
      policy.breaker.engineFatal = true;
      // The fakes share a core with the callers: a crowd must not make a healthy one late.
      chainOf(policy).firstTokenTimeout = "2500ms";
      // A slow reader is waited for as long as for a whole answer: longer than the one here pauses.
      chainOf(policy).answerTimeout = "8s";
    },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

test("150 callers at once on a backend that hangs after its headers are all answered by the next tier", async () => {
  rig.gpu.mode = { kind: "stall" };
  const answers = await Promise.all(Array.from({ length: 150 }, () => chat(rig.url, { stream: true })));
  assert.ok(answers.every(({ status, complete }) => status === 200 && complete));
  assert.deepEqual(rig.hits, [150, 150, 0]);
  assert.equal(await rig.counter("gpu", "lost_updates"), 0);
  await waitFor(() => rig.gpu.active === 0, 5_000, "no attempt is left at the backend");
});

test("a crowd that leaves, fails and succeeds at once is counted to the last call", async () => {
  const names = ["success", "failure", "neutral", "backpressure"];
  const sum = async (): Promise<number> => {
    const values = await Promise.all(names.map((name) => rig.counter("gpu", `outcome.${name}`)));
    return values.reduce((total, value) => total + value, 0);
  };
  // Attempts of callers that left before a connection was ready were never sent, but are attempts.
  const attempts = async (): Promise<number> =>
    (await rig.envoy.stat("cluster.gpu.upstream_rq_total")) +
    (await rig.envoy.stat("cluster.gpu.upstream_rq_cancelled"));
  rig.gpu.mode = ({ index }) => {
    if (index % 3 === 0) return { kind: "status", status: 500 };
    return index % 3 === 1 ? { kind: "reset" } : { kind: "sse", events: 5, gapMs: 40 };
  };
  const calls = Array.from({ length: 240 }, (_, call) =>
    chat(rig.url, { stream: true, ...(call % 4 === 0 && { leaveAfterMs: 60 }) }),
  );
  await Promise.all(calls);
  await waitFor(() => rig.gpu.active === 0, 5_000, "no attempt is left at the backend");
  await waitFor(async () => (await sum()) === (await attempts()), 5_000, "one outcome an attempt");
});

test("a caller that reads slowly is no stall of the backend", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  const success = await rig.counter("gpu", "outcome.success");
  const events = Array.from({ length: 400 }, () => tokenEvent("m", "x".repeat(40_000)));
  rig.gpu.mode = { kind: "chunks", writes: [...events, finishEvent("m"), doneEvent] };
  const bytes = await new Promise<number>((resolve, reject) => {
    const body = JSON.stringify({ model: "m", messages: [], stream: true });
    const headers = { "content-type": "application/json", "content-length": String(body.length) };
    const call = openRequest(
      `${rig.url}/v1/chat/completions`,
      { method: "POST", agent: false, headers },
      (answer) => {
        let received = 0;
        answer.once("data", async () => {
          answer.pause();
          await sleep(4_000);
          answer.resume();
        });
        answer.on("data", (chunk: Buffer) => {
          received += chunk.length;
        });
        answer.on("end", () => resolve(received));
        answer.on("error", reject);
      },
    );
    call.on("error", reject);
    call.end(body);
  });
  assert.ok(bytes > 400 * 40_000);
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures);
  await rig.waitForCounter("gpu", "outcome.success", success + 1);
});

test("results of an earlier opening neither close nor open the present one", async () => {
  rig.gpu.mode = { kind: "sse", events: 30, gapMs: 100 };
  const old = Array.from({ length: 6 }, () => chat(rig.url, { stream: true }));
  await waitFor(() => rig.gpu.active === 6, 5_000, "the old streams");
  const late = await rig.counter("gpu", "outcome.late");
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  rig.gpu.mode = { kind: "ok" };
  await recover(rig, () => chat(rig.url));
  const transitions = rig.transitions().length;
  for (const answer of await Promise.all(old)) assert.ok(answer.complete);
  await rig.waitForCounter("gpu", "outcome.late", late + 6);
  assert.equal(rig.transitions().length, transitions);
});
