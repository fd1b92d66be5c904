import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chat } from "../support/client.js";
import { CLOSED, isProbe, type Rig, startRig } from "./support/rig.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: ({ breaker }) => {
      breaker.ramp = [
        { percent: 20, maxConcurrent: 2, successes: 5 },
        { percent: 100, maxConcurrent: 4, successes: 5 },
      ];
      // Longer than the test: only the draw decides.
      breaker.canary = { size: "estimate", noDrawAfter: "1h" };
    },
  });
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  rig.gpu.mode = ({ body }) => (isProbe(body) ? { kind: "ok" } : { kind: "status", status: 400 });
  await rig.waitForCause("PROBE_SUCCEEDED");
  rig.gpu.reset();
});

after(() => rig.stop());

test("a stage draws its share of the eligible requests", async () => {
  for (let call = 0; call < 400; call++) await chat(rig.url);
  // 80 are expected; 8 is the standard deviation.
  const drawn = rig.gpu.arrivals.length;
  assert.ok(drawn >= 45 && drawn <= 115, `${drawn} of 400`);
});

test("successes of one stage lead to the next, with its own share, and the last stage closes", async () => {
  rig.gpu.mode = { kind: "ok" };
  while (!rig.transitions().some(({ cause }) => cause === "STAGE_PASSED")) await chat(rig.url);
  assert.notEqual(await rig.state(), CLOSED);
  rig.gpu.reset();
  for (let call = 0; call < 5; call++) {
    assert.equal((await chat(rig.url)).headers["x-llm-breaker-backend"], "gpu");
  }
  assert.equal(await rig.state(), CLOSED);
  assert.equal(rig.transitions().at(-1)?.cause, "RAMP_COMPLETE");
  assert.equal(await rig.counter("gpu", "closed"), 1);
});
