import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { OPEN, type Rig, startRig, staysOpen } from "./support/rig.js";
import { deadlyAnswer, TrappingMeter } from "./support/trapping-meter.js";

// No byte is known to trap the filter. Here a meter that does, whenever an answer ends by trailers, shows what one would cost.

const meter = new TrappingMeter();
let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    concurrency: 1,
    policy: ({ breaker }) => Object.assign(breaker, staysOpen),
    patch: (config) => meter.install(config),
  });
});

after(async () => {
  await rig?.stop();
  meter.remove();
});

test("a trap costs the worker's answers under way and nothing else: the next request is served, by the same state", async () => {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  assert.equal(await rig.state(), OPEN);
  rig.gpu.mode = { kind: "ok" };

  rig.small.mode = { kind: "sse", events: 100, gapMs: 50 };
  let received = 0;
  const onData = (chunk: Buffer): void => {
    received += chunk.length;
  };
  const live = chat(rig.url, { stream: true, onData });
  await waitFor(() => received > 0, 5_000, "the live stream");
  rig.small.mode = deadlyAnswer;
  const held = await chat(rig.url, { timeoutMs: 5_000 });
  assert.ok(held.status === 0 || held.status >= 500, `${held.status}`);
  if (held.status !== 0) assert.equal(typeof JSON.parse(held.text).error.message, "string", held.text);
  assert.equal((await live).complete, false, "a cut stream must not look like a whole one");

  rig.reset();
  const startMs = performance.now();
  const tryOnce = async (): Promise<Answer | undefined> => {
    const answer = await chat(rig.url);
    return answer.status === 200 ? answer : undefined;
  };
  const served = await waitFor(tryOnce, 2_000, "an answer after the trap");
  assert.ok(performance.now() - startMs < 1_000, "the filter was away for too long");
  // What was open still is: the state outlived the VM.
  assert.equal(served.headers["x-llm-breaker-backend"], "small");
  assert.equal(await rig.state(), OPEN);
  assert.equal(rig.gpu.arrivals.length, 0);
  assert.equal(rig.envoy.exit, undefined);
});
