import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { type PushedGate, startPushedRig } from "./support/pushed-gate.js";
import { OPEN, type Rig, staysOpen } from "./support/rig.js";
import { chainOf } from "./support/shipped-config.js";

let rig: Rig;
let gate: PushedGate;

before(async () => {
  ({ rig, gate } = await startPushedRig({
    service: false,
    policy: ({ breaker }) => Object.assign(breaker, staysOpen),
  }));
});

after(async () => {
  await rig?.stop();
  gate?.remove();
});

test("a pushed policy serves the next request, with no request lost", async () => {
  const headerless = structuredClone(gate.policy);
  chainOf(headerless).answerHeaders = false;
  let pushing = true;
  const statuses: number[] = [];
  const caller = async (): Promise<void> => {
    while (pushing || statuses.length < 50) statuses.push((await chat(rig.url)).status);
  };
  const callers = [caller(), caller(), caller(), caller()];
  for (const [json, isNamed] of [
    [headerless, false],
    [gate.policy, true],
    [headerless, false],
    [gate.policy, true],
  ] as const) {
    await gate.push(rig, json);
    const serves = async () => "x-llm-breaker-backend" in (await chat(rig.url)).headers === isNamed;
    await waitFor(serves, 5_000, "the pushed policy");
  }
  pushing = false;
  await Promise.all(callers);
  assert.ok(statuses.every((status) => status === 200));
});

test("a push leaves a backend's state as it is", async () => {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  assert.equal(await rig.state(), OPEN);
  rig.reset();
  const changed = structuredClone(gate.policy);
  changed.breaker.failureRateThreshold = 50;
  await gate.push(rig, changed);
  for (let call = 0; call < 6; call++) {
    assert.equal((await chat(rig.url)).headers["x-llm-breaker-backend"], "small");
  }
  assert.deepEqual(rig.hits, [0, 6, 0]);
  assert.equal(await rig.state(), OPEN);
});

test("a wrong policy that is pushed is refused by name, and the old one serves on", async () => {
  const wrong = structuredClone(gate.policy);
  wrong.breaker.failureRateThreshold = 101;
  chainOf(wrong).maxAttempts = 99;
  await gate.push(rig, wrong, "config_fail");
  const line = await rig.envoy.waitForLog(/the policy is refused, nothing changed/);
  assert.match(line, /breaker\.failureRateThreshold.*chains\.chat\.maxAttempts/);
  rig.reset();
  for (let call = 0; call < 6; call++) {
    const answer = await chat(rig.url);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  }
  assert.equal(await rig.state(), OPEN);
});

test("a stream that began under the old policy ends well under the new one, and is judged", async () => {
  const success = await rig.counter("small", "outcome.success");
  rig.small.mode = { kind: "sse", events: 15, gapMs: 100 };
  const stream = chat(rig.url, { stream: true });
  await waitFor(() => rig.small.active === 1, 5_000, "the stream");
  const changed = structuredClone(gate.policy);
  changed.breaker.failureRateThreshold = 60;
  await gate.push(rig, changed);
  const answer = await stream;
  assert.ok(answer.complete);
  assert.match(answer.text, /\[DONE\]/);
  await rig.waitForCounter("small", "outcome.success", success + 1);
});
