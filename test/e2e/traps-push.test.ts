import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { type PushedGate, startPushedRig } from "./support/pushed-gate.js";
import { CLOSED, isProbe, type Rig, recover } from "./support/rig.js";
import type { PolicyJson } from "./support/shipped-config.js";

// A push makes new roots; the old ones live on as long as their streams, or die in the middle of a probe.

const leaseMs = 2_000;
let rig: Rig;
let gate: PushedGate;

before(async () => {
  ({ rig, gate } = await startPushedRig({
    service: false,
    policy: ({ breaker }) => {
      breaker.probe = { ...(breaker.probe as object), lease: `${leaseMs}ms`, firstTokenMax: "1500ms" };
    },
  }));
});

beforeEach(async () => {
  rig.reset();
  await recover(rig, () => chat(rig.url));
  rig.reset();
});

after(async () => {
  await rig?.stop();
  gate?.remove();
});

const probes = () => rig.gpu.arrivals.filter(({ body }) => isProbe(body));

/** The shipped policy, with this model in the probe's body. */
function probing(model: string): PolicyJson {
  const policy = structuredClone(gate.policy);
  const probe = policy.breaker.probe as { body: Record<string, unknown> };
  probe.body = { ...probe.body, model };
  return policy;
}

async function open(): Promise<void> {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  rig.gpu.mode = ({ body }) => (isProbe(body) ? { kind: "hang" } : { kind: "ok" });
  rig.gpu.reset();
}

test("a probe that a push cuts is nobody's verdict: its lease runs out, and another is sent", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  await open();
  await waitFor(() => probes().length === 1, 5_000, "the probe");
  const transitions = rig.transitions().length;
  await gate.push(rig, probing("after-the-cut"));
  rig.gpu.mode = { kind: "ok" };
  await waitFor(() => probes().length === 2, 2 * leaseMs, "the next probe");
  const [cut, next] = probes();
  const gapMs = (next?.atMs ?? 0) - (cut?.atMs ?? 0);
  assert.ok(gapMs >= leaseMs - 50, `the new root probed ${gapMs} ms after the old one, within its lease`);
  await rig.waitForCause("PROBE_SUCCEEDED");
  await recover(rig, () => chat(rig.url));
  assert.equal(JSON.parse(probes()[1]?.body.toString() ?? "").model, "after-the-cut");
  const causes = rig
    .transitions()
    .slice(transitions)
    .map(({ cause }) => cause);
  assert.ok(!causes.includes("PROBE_FAILED"), causes.join(", "));
  // The one that opened, and no more.
  assert.equal(await rig.counter("gpu", "outcome.failure"), failures + 1);
});

test("an old root that a live stream keeps neither probes nor hands out its policy", async () => {
  await gate.push(rig, probing("old"));
  rig.small.mode = { kind: "sse", events: 45, gapMs: 100 };
  await open();
  rig.gpu.mode = ({ body }) => (isProbe(body) ? { kind: "status", status: 500 } : { kind: "ok" });
  const stream = chat(rig.url, { stream: true });
  await waitFor(() => rig.small.active === 1, 5_000, "the old policy's stream");
  await gate.push(rig, probing("new"));
  // A probe may be on its way.
  await sleep(500);
  rig.gpu.reset();
  await waitFor(() => probes().length >= 3, 8_000, "three more probes");
  assert.equal(rig.small.active, 1, "the old stream ended too early to show anything");
  assert.deepEqual(
    probes().map(({ body }) => JSON.parse(body.toString()).model),
    probes().map(() => "new"),
  );
  assert.equal(rig.gpu.peak, 1, "two roots probed at once");
  assert.ok((await stream).complete);
  rig.reset();
  await recover(rig, () => chat(rig.url));
  assert.equal(await rig.state(), CLOSED);
});
