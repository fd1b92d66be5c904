import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { chat } from "../support/client.js";
import { freePort } from "../support/ports.js";
import { waitFor } from "../support/wait-for.js";
import { CLOSED, HALF_OPEN, OPEN, type Rig, recover, startRig } from "./support/rig.js";
import { FakeService } from "./support/sync-fake.js";

// Four workers and the gate's main thread: five VMs, of which one talks.

let rig: Rig;
let service: FakeService;

before(async () => {
  service = new FakeService(await freePort());
  await service.start();
  rig = await startRig({
    service: false,
    concurrency: 4,
    fixedPorts: [service.port],
    policy: (policy) => service.name(policy),
    patch: (config) => service.patch(config),
  });
});

beforeEach(async () => {
  service.directives = [];
  service.nextMs = 0;
  rig.reset();
  await recover(rig, () => chat(rig.url));
  rig.reset();
});

after(async () => {
  await rig?.stop();
  await service?.stop();
});

async function open(): Promise<void> {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  rig.reset();
}

/** Who serves a call now, on several connections so that all workers are asked. */
async function servedBy(): Promise<Set<unknown>> {
  const answers = await Promise.all(Array.from({ length: 8 }, () => chat(rig.url)));
  for (const { status } of answers) assert.equal(status, 200);
  return new Set(answers.map(({ headers }) => headers["x-llm-breaker-backend"]));
}

async function allServedBy(backend: string, timeoutMs = 3_000): Promise<void> {
  const isServed = async () => {
    const served = await servedBy();
    return served.size === 1 && served.has(backend);
  };
  await waitFor(isServed, timeoutMs, `all calls served by ${backend}`);
}

test("five VMs send one request a second in all, each newer than the last", async () => {
  await waitFor(() => service.heard.length >= 2, 5_000, "the first requests");
  assert.equal(service.heard[0]?.request.asksRestore, true);
  service.heard.length = 0;
  await sleep(3_000);
  const sequences = service.heard.map(({ request }) => request.sequence);
  assert.ok(sequences.length >= 2 && sequences.length <= 4, `${sequences.length} requests in 3 s`);
  assert.deepEqual(
    sequences,
    sequences.map((_, index) => (sequences[0] ?? 0) + index),
  );
  const [first] = service.heard;
  assert.equal(first?.request.node, "llm-breaker");
  assert.equal(first?.request.policy, "full");
  assert.equal(new Set(service.heard.map(({ request }) => request.process)).size, 1);
  assert.equal(first?.request.asksRestore, false);
});

test("a transition is told within half a second, with what led to it", async () => {
  await waitFor(() => service.heard.length > 0, 3_000, "a request");
  const openedMs = performance.now();
  await open();
  const heard = await waitFor(
    () =>
      service.heard.find(({ request, atMs }) => atMs > openedMs && request.backends[0]?.state !== "CLOSED"),
    3_000,
    "the opening",
  );
  assert.ok(heard.atMs - openedMs < 700, `told after ${heard.atMs - openedMs} ms`);
  const [gpu] = heard.request.backends;
  assert.equal(gpu?.isEvidence, true);
  assert.equal(gpu?.transitions.at(-1)?.to, "OPEN");
});

test("an operator's word holds for all workers, and ends by itself while the service is gone", async () => {
  const override = { mode: "FORCED_OPEN", remainingMs: 4_000, version: 1, who: "ann", why: "drill" };
  service.directives = [{ name: "gpu", override }];
  await allServedBy("small");
  await service.stop();
  const goneMs = performance.now();
  try {
    await sleep(2_000);
    assert.deepEqual(await servedBy(), new Set(["small"]));
    await allServedBy("gpu", 5_000);
    assert.ok(performance.now() - goneMs < 5_000);
  } finally {
    service.directives = [];
    await service.start();
  }
  const told = await rig.envoy.waitForLog(/llm\.breaker override .*"ended":"over"/);
  assert.match(told, /"backend":"gpu","mode":"enforce"/);
  assert.equal(rig.envoy.log.matching(/llm\.breaker override .*"who":"ann","why":"drill"/).length, 1);
});

test("a service that has just begun hears of an operator's word from the gateway that keeps it", async () => {
  const override = { mode: "FORCED_OPEN", remainingMs: 60_000, version: 2, who: "ann", why: "kept" };
  service.directives = [{ name: "gpu", override }];
  await allServedBy("small");
  await service.stop();
  service.directives = [];
  service.heard.length = 0;
  await service.start();
  await waitFor(() => service.report("gpu")?.override?.why === "kept", 4_000, "the echo");
  assert.deepEqual(await servedBy(), new Set(["small"]));
  service.directives = [{ name: "gpu", override: { ...override, version: 3, isWithdrawn: true } }];
  await allServedBy("gpu");
});

test("a move opens a backend that has failed nobody, once", async () => {
  await waitFor(() => service.report("gpu"), 3_000, "a report");
  const { generation = 0, track = 0 } = service.report("gpu") ?? {};
  const move = { version: track + 1, expectedGeneration: generation, to: "OPEN", openings: 1, cause: 17 };
  service.directives = [{ name: "gpu", move: { ...move, waitMs: 1_000, isForAll: true } }];
  await rig.waitForCause("GROUP_OPENED");
  await allServedBy("small", 800);
  await waitFor(() => service.report("gpu")?.track === track + 1, 3_000, "the move's version");
  assert.equal(service.report("gpu")?.isEvidence, false);
  await recover(rig, () => chat(rig.url));
  assert.equal(rig.transitions().filter(({ cause }) => cause === "GROUP_OPENED").length, 1);
});

test("a full KV cache keeps a recovered backend half-open; once there is room it closes within 1.5 s", async () => {
  const signals = { isFresh: true, isWhole: true, kvCacheUse: 901 };
  service.directives = [{ name: "gpu", signals }];
  await sleep(1_300);
  await open();
  await rig.waitForState(HALF_OPEN);
  for (let call = 0; call < 20; call++) await chat(rig.url);
  assert.equal(await rig.state(), HALF_OPEN);
  await sleep(1_500);
  assert.equal(await rig.state(), HALF_OPEN);
  service.directives = [{ name: "gpu", signals: { ...signals, kvCacheUse: 701 } }];
  await rig.waitForState(CLOSED, "gpu", 1_500 + 250);
});

test("in a group only the lease's holder probes", async () => {
  service.nextMs = 200;
  service.directives = [{ name: "gpu", group: { live: 7, evidence: 4 } }];
  await sleep(1_300);
  await open();
  rig.gpu.reset();
  await sleep(1_500);
  assert.equal(await rig.state(), OPEN);
  assert.equal(rig.gpu.arrivals.length, 0, "somebody else's probe was sent from here");
  service.directives = [{ name: "gpu", group: { live: 7, evidence: 4, mayProbeMs: 3_000, rampShare: 2 } }];
  await rig.waitForState(HALF_OPEN);
  // The state changes when the probe is sent, not when it comes.
  await waitFor(() => rig.gpu.arrivals.length > 0, 2_000, "the probe");
  assert.equal(rig.gpu.arrivals.length, 1);
});

test("a service that hangs delays no caller, and has one request in flight", async () => {
  await sleep(1_100);
  service.hangs = true;
  service.mostInFlight = 0;
  for (let second = 0; second < 5; second++) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => chat(rig.url)));
    for (const { status, totalMs } of answers) {
      assert.equal(status, 200);
      assert.ok(totalMs < 500, `answered after ${totalMs} ms`);
    }
    await sleep(300);
  }
  assert.equal(service.mostInFlight, 1);
  service.hangs = false;
});
