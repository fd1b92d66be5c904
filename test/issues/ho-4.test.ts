import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { balanceExactly, HALF_OPEN, isProbe, type Rig, startRig } from "../e2e/support/rig.js";
import { chat } from "../support/client.js";

const permits = 3;
let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    concurrency: 8,
    patch: balanceExactly,
    policy: ({ breaker }) => {
      breaker.ramp = [{ percent: 100, maxConcurrent: permits, successes: permits }];
      breaker.waitDurationInOpenState = "1s";
      breaker.maxWaitDurationInOpenState = "1s";
    },
  });
});

after(() => rig.stop());

test("HO-4: at the edge from open to half-open one probe and at most P canaries pass, over all workers", async () => {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  const openedAtMs = performance.now();
  rig.gpu.mode = ({ body }) => (isProbe(body) ? { kind: "ok" } : { kind: "hang" });
  rig.reset();
  rig.gpu.mode = ({ body }) => (isProbe(body) ? { kind: "ok" } : { kind: "hang" });

  const wave = (size: number) => Array.from({ length: size }, () => chat(rig.url, { timeoutMs: 20_000 }));
  const answers: ReturnType<typeof chat>[] = [];
  // One wave while open, and waves over the edge, whenever in the next second it comes.
  answers.push(...wave(60));
  while (performance.now() < openedAtMs + 900) await sleep(20);
  while ((await rig.state()) !== HALF_OPEN) {
    answers.push(...wave(10));
    await sleep(20);
  }
  answers.push(...wave(200));
  await rig.waitForCause("PROBE_SUCCEEDED");
  answers.push(...wave(200));
  const all = await Promise.all(answers);

  assert.ok(all.every(({ status, complete }) => status === 200 && complete));
  const probes = rig.gpu.arrivals.filter(({ body }) => isProbe(body)).length;
  assert.equal(probes, await rig.counter("gpu", "probes"));
  const firstReopening = rig.transitions().filter(({ to }) => to === "OPEN")[1];
  assert.equal(firstReopening?.cause ?? "CANARY_FAILED", "CANARY_FAILED");
  const canaries = rig.gpu.arrivals.length - probes;
  assert.ok(canaries >= 1, "no canary passed");
  // The canaries' limit of 4 s outlasts the waves, so all of them belong to one half-open period.
  assert.ok(canaries <= permits, `${canaries} canaries for ${permits} permits`);
  assert.ok(rig.gpu.peak <= permits + 1, `${rig.gpu.peak} at once`);
});
