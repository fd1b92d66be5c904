import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { chat } from "../support/client.js";
import type { Mode } from "../support/upstream-mode.js";
import { waitFor } from "../support/wait-for.js";
import { balanceExactly, isProbe, type Rig, recover, startRig } from "./support/rig.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    concurrency: 4,
    patch: balanceExactly,
    policy: ({ breaker }) => {
      breaker.waitDurationInOpenState = "200ms";
      breaker.maxWaitDurationInOpenState = "200ms";
      breaker.probe = { ...(breaker.probe as object), lease: "1500ms", firstTokenMax: "700ms" };
    },
  });
});

beforeEach(async () => {
  rig.reset();
  await recover(rig, () => chat(rig.url));
  rig.reset();
});

after(() => rig.stop());

const json = { "content-type": "application/json" };
/** Opens, and lets the next probe meet `mode`. Returns the cause that ended it. */
async function verdictOn(mode: Mode): Promise<string | undefined> {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  rig.gpu.reset();
  rig.gpu.mode = ({ index }) => (index === 0 ? mode : { kind: "ok" });
  const from = rig.transitions().length;
  const verdict = (): string | undefined =>
    rig
      .transitions()
      .slice(from)
      .find(({ cause }) => cause.startsWith("PROBE_"))?.cause;
  return await waitFor(verdict, 8_000, "a verdict");
}

const failing: Record<string, Mode> = {
  "a 500": { kind: "status", status: 500 },
  "a 400": { kind: "status", status: 400 },
  "a reset": { kind: "reset" },
  silence: { kind: "hang" },
  "headers and silence": { kind: "stall" },
  "an error in a 200": { kind: "chunks", headers: json, writes: ['{"error":{"message":"Internal error"}}'] },
  "an empty 200": { kind: "chunks", headers: json, writes: ["{}"] },
  "half an answer": { kind: "chunks", headers: json, writes: ['{"choices":[{"message":{"content":"a'] },
  "an answer that came too late": { kind: "ok", delayMs: 1_000 },
};

for (const [what, mode] of Object.entries(failing)) {
  test(`a probe that meets ${what} has failed: one more opening, and one more probe after the wait`, async () => {
    const opened = await rig.counter("gpu", "opened");
    assert.equal(await verdictOn(mode), "PROBE_FAILED");
    assert.equal(await rig.counter("gpu", "opened"), opened + 2);
    await waitFor(() => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED", 8_000, "the next probe");
    assert.equal(rig.gpu.arrivals.length, 2);
    assert.ok(rig.gpu.arrivals.every(({ body }) => isProbe(body)));
  });
}

test("a probe that is answered by a token starts the ramp", async () => {
  assert.equal(await verdictOn({ kind: "ok" }), "PROBE_SUCCEEDED");
  assert.equal(rig.gpu.arrivals.length, 1);
});

test("a probe's outcome is in none of the users' counters", async () => {
  const names = ["success", "failure", "neutral", "backpressure"].map((name) => `outcome.${name}`);
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  const before = await Promise.all(names.map((name) => rig.counter("gpu", name)));
  rig.gpu.reset();
  rig.gpu.mode = ({ index }) => (index < 2 ? { kind: "status", status: 500 } : { kind: "ok" });
  await waitFor(() => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED", 8_000, "the third probe");
  assert.deepEqual(await Promise.all(names.map((name) => rig.counter("gpu", name))), before);
});
