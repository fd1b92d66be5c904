import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { OutcomeCounts } from "./support/outcome-counts.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { uploadSlowly } from "./support/slow-upload.js";

// envoy/minimal.yaml lets a body pass as it comes: the backend then waits for the caller, not the caller for it.

const uploadMs = 1_500;
let rig: Rig;
let outcomes: OutcomeCounts;

before(async () => {
  rig = await startRig({
    file: "minimal",
    concurrency: 1,
    policy: (policy) => {
      neverOpen(policy);
      policy.breaker.slowFirstTokenThreshold = "1s";
    },
  });
  outcomes = new OutcomeCounts(rig);
});

beforeEach(() => rig.reset());

after(() => rig.stop());

const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "hi" }] });
const upload = () => uploadSlowly(`${rig.url}/v1/chat/completions`, body, uploadMs);

test("a server that hangs up on a slow upload is not to blame, one that does so afterwards is", async () => {
  const slow = upload();
  await waitFor(() => rig.gpu.arrivals.length === 1, 5_000, "the upload's first half");
  const { port } = rig.gpu;
  await rig.gpu.stop();
  await rig.gpu.listen(port);
  const answer = await slow;
  assert.equal(answer.status, 503);
  assert.equal(typeof JSON.parse(answer.text).error.message, "string");
  assert.deepEqual(await outcomes.news(), { neutral: 1 });
  rig.gpu.mode = { kind: "reset" };
  assert.equal((await upload()).status, 503);
  assert.deepEqual(await outcomes.news(), { failure: 1 });
});

test("a first token is late by the time since the request's end", async () => {
  rig.gpu.mode = { kind: "ttft", ms: 300 };
  assert.equal((await upload()).status, 200);
  assert.equal(await rig.counter("gpu", "slow"), 0);
  rig.gpu.mode = { kind: "ttft", ms: 1_300 };
  await chat(rig.url, { stream: true });
  await rig.waitForCounter("gpu", "slow", 1);
});
