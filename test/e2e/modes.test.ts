import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Mode } from "../support/upstream-mode.js";
import { waitFor } from "../support/wait-for.js";
import { answererOf, BackendUnderTest, type ExtraBackend, withBackends } from "./support/extra-backends.js";
import { type PushedGate, startPushedRig } from "./support/pushed-gate.js";
import { CLOSED, isProbe, OPEN, type Rig } from "./support/rig.js";

const failing: Mode = { kind: "status", status: 500 };
const brief = {
  consecutiveFailuresThreshold: 2,
  waitDurationInOpenState: "300ms",
  ramp: [{ percent: 100, maxConcurrent: 2, successes: 2 }],
};
const lasting = { consecutiveFailuresThreshold: 2 };
const backends: Record<string, ExtraBackend> = {
  shadow: { breaker: { ...brief, mode: "shadow" } },
  disabled: { breaker: { ...lasting, mode: "disabled" } },
  "forced-open": { breaker: { ...brief, mode: "forcedOpen" } },
  "forced-open-alone": { breaker: { mode: "forcedOpen" }, chain: { tiers: ["forced-open-alone"] } },
  "forced-closed": { breaker: { ...brief, mode: "forcedClosed" } },
  switched: { breaker: lasting },
  released: { breaker: brief },
};
/** Longer than any wait of an opening here, and a tick. */
const beyondTheWaitMs = 800;
let rig: Rig;
let gate: PushedGate;

before(async () => {
  ({ rig, gate } = await startPushedRig(withBackends(backends)));
});

after(async () => {
  await rig?.stop();
  gate?.remove();
});

const under = (alias: string) => BackendUnderTest.afterReset(rig, alias);

async function pushMode(alias: string, mode: string): Promise<void> {
  const policy = structuredClone(gate.policy);
  const backend = policy.backends[alias] as { breaker: Record<string, unknown> };
  backend.breaker.mode = mode;
  await gate.push(rig, policy);
}

const probesSeen = () => rig.gpu.arrivals.filter(({ body }) => isProbe(body)).length;

describe("shadow", () => {
  test("opens, and everything still passes", async () => {
    const backend = under("shadow");
    rig.gpu.mode = failing;
    for (let call = 0; call < 6; call++) {
      assert.equal((await backend.chat()).headers["x-llm-breaker-tried"], "shadow=500");
    }
    assert.equal(rig.gpu.arrivals.filter(({ body }) => !isProbe(body)).length, 6);
    const opening = await backend.waitForCause("CONSECUTIVE_FAILURES");
    assert.equal(opening.to, "OPEN");
    assert.ok((await backend.counter("opened")) >= 1);
    // What would have been refused: the sixth call at least.
    assert.ok((await backend.counter("refused")) >= 1);
    assert.deepEqual(backend.reports(), []);
  });

  test("is probed, has canaries, and closes again", async () => {
    const backend = under("shadow");
    await backend.waitForCause("PROBE_SUCCEEDED");
    const closed = () => backend.transitions().at(-1)?.cause === "RAMP_COMPLETE";
    await waitFor(
      async () => {
        assert.ok(await backend.answers());
        return closed();
      },
      5_000,
      "the end of the ramp",
    );
    assert.ok((await backend.counter("canaries")) >= 2);
    assert.equal(await backend.state(), CLOSED);
  });
});

test("disabled: nothing is refused, filed or probed", async () => {
  const backend = under("disabled");
  rig.gpu.mode = failing;
  for (let call = 0; call < 6; call++) {
    assert.equal((await backend.chat()).headers["x-llm-breaker-tried"], "disabled=500");
  }
  await sleep(beyondTheWaitMs);
  assert.equal(rig.gpu.arrivals.length, 6);
  assert.deepEqual([backend.transitions(), backend.reports()], [[], []]);
  assert.equal(await backend.state(), CLOSED);
  // What failed meanwhile does not count once it is enforced.
  await pushMode("disabled", "enforce");
  rig.gpu.reset();
  await backend.chat();
  assert.equal(await backend.state(), CLOSED);
  await backend.chat();
  assert.equal(await backend.state(), OPEN);
});

describe("forcedOpen", () => {
  test("the next tier has all traffic, and nothing is probed", async () => {
    const backend = under("forced-open");
    assert.deepEqual(await backend.chats(3), ["small", "small", "small"]);
    await sleep(beyondTheWaitMs);
    assert.equal(rig.gpu.arrivals.length, 0);
    assert.equal(await backend.counter("refused"), 3);
    assert.deepEqual(backend.transitions(), []);
  });

  test("without another tier callers are told so", async () => {
    const answer = await under("forced-open-alone").chat();
    assert.equal(answer.status, 503);
    assert.ok(Number(answer.headers["retry-after"]) >= 1);
    assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_exhausted");
    assert.equal(rig.gpu.arrivals.length, 0);
  });

  test("enforced again, it is what it was before", async () => {
    await pushMode("forced-open", "enforce");
    const backend = under("forced-open");
    await waitFor(() => backend.answers(), 5_000, "traffic at the backend");
    assert.equal(await backend.state(), CLOSED);
  });
});

test("forcedClosed: everything passes, and a trigger that trips only reports", async () => {
  const backend = under("forced-closed");
  rig.gpu.mode = failing;
  for (let call = 0; call < 6; call++) {
    assert.equal((await backend.chat()).headers["x-llm-breaker-tried"], "forced-closed=500");
  }
  await backend.waitForReport("CONSECUTIVE_FAILURES");
  await sleep(beyondTheWaitMs);
  assert.equal(rig.gpu.arrivals.length, 6, "no probe");
  assert.deepEqual(backend.transitions(), []);
  assert.equal(await backend.counter("reported"), 1);
  assert.equal(await backend.state(), CLOSED);
});

describe("a mode that is pushed while the backend is open", () => {
  test("forcedClosed and disabled let traffic in at once; enforced again, it is open as before", async () => {
    const backend = under("switched");
    rig.gpu.mode = failing;
    await backend.chats(2);
    assert.equal(await backend.state(), OPEN);
    rig.gpu.mode = { kind: "ok" };
    for (const mode of ["forcedClosed", "disabled", "shadow"]) {
      await pushMode("switched", mode);
      await waitFor(() => backend.answers(), 5_000, `traffic in mode ${mode}`);
      assert.ok(await backend.answers());
      await pushMode("switched", "enforce");
      await waitFor(async () => !(await backend.answers()), 5_000, "refusals");
      assert.equal(answererOf(await backend.chat()), "small");
    }
    assert.equal(await backend.state(), OPEN);
    assert.equal(backend.transitions().length, 1);
  });

  test("forcedOpen sends no probe though the wait is over; enforced again, it recovers by a probe", async () => {
    const backend = under("released");
    rig.gpu.mode = failing;
    await backend.chats(2);
    assert.equal(await backend.state(), OPEN);
    await pushMode("released", "forcedOpen");
    rig.gpu.reset();
    rig.gpu.mode = { kind: "ok" };
    const before = backend.transitions().length;
    await sleep(beyondTheWaitMs);
    assert.deepEqual(await backend.chats(2), ["small", "small"]);
    assert.ok(backend.transitions().length <= before + 1, "at most what was in flight");
    await pushMode("released", "enforce");
    await waitFor(() => backend.answers(), 5_000, "the recovery");
    assert.ok(probesSeen() >= 1);
  });
});
