import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat } from "../support/client.js";
import { completionJson, doneEvent, finishEvent, tokenEvent } from "../support/completion.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { addRoute, chainOf, clusterOf } from "./support/shipped-config.js";
import { endedByTrailers, keepTrailers } from "./support/trailers.js";

// Over HTTP/1.1 Envoy drops trailers unless it is told to keep them; then no body callback sees the answer's end.

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: (policy) => {
      neverOpen(policy);
      policy.chains.complete = { ...chainOf(policy), commit: "complete" };
    },
    patch: (config) => {
      addRoute(config, "/complete/", "complete");
      keepTrailers(clusterOf(config, "gpu"));
    },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

const events = [tokenEvent("m", "a"), tokenEvent("m", "b")];
const whole: readonly [what: string, type: string, chunks: string[]][] = [
  ["a stream", "text/event-stream", [...events, finishEvent("m"), doneEvent]],
  ["an answer in one piece", "application/json", [completionJson("m", "a")]],
  ["what is no model's answer", "text/plain", ["any", "thing"]],
];

for (const path of ["", "/complete"]) {
  for (const [what, type, chunks] of whole) {
    test(`${what} that ends by trailers is whole and a success${path && ", held to its end"}`, async () => {
      const success = await rig.counter("gpu", "outcome.success");
      rig.gpu.mode = endedByTrailers(type, chunks);
      const stream = type === "text/event-stream";
      const answer = await chat(`${rig.url}${path}`, { stream, timeoutMs: 3_000 });
      assert.ok(answer.complete, answer.brokenBy);
      assert.equal(answer.text, chunks.join(""));
      assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
      assert.equal(await rig.counter("gpu", "outcome.success"), success + 1);
    });
  }
}

test("half a stream that ends by trailers reaches its caller broken, and is a failure", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  rig.gpu.mode = endedByTrailers("text/event-stream", events);
  const answer = await chat(rig.url, { stream: true, timeoutMs: 3_000 });
  assert.equal(answer.complete, false, "a half must not look like a whole");
  assert.equal(answer.brokenBy, "aborted");
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures + 1);
  assert.deepEqual(rig.hits, [1, 0, 0]);
});

for (const [path, chunks] of [
  ["", [doneEvent]],
  ["/complete", events],
] as const) {
  test(`what is held and no answer is the next tier's turn when trailers end it${path && ", tokens or not"}`, async () => {
    rig.gpu.mode = endedByTrailers("text/event-stream", chunks);
    const answer = await chat(`${rig.url}${path}`, { stream: true, timeoutMs: 3_000 });
    assert.match(answer.text, /\[DONE\]/);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  });
}
