import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Answer, type ChatSettings, chat, send } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { balanceExactly, neverOpen, type Rig, startRig } from "./support/rig.js";
import { deadlyAnswer, TrappingMeter } from "./support/trapping-meter.js";

// A backend's `maxConcurrentCalls` holds over all workers, however calls end, and whatever becomes of a worker.

const most = 6;
/** Lines of dead VMs are forgotten after 5 s. */
const forgottenMs = 5_000;
const meter = new TrappingMeter();
let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    concurrency: 4,
    policy: (policy) => {
      neverOpen(policy);
      Object.assign(policy.backends.gpu ?? {}, { maxConcurrentCalls: most });
    },
    patch: (config) => {
      balanceExactly(config);
      meter.install(config);
    },
  });
});

beforeEach(() => rig.reset());

after(async () => {
  await rig?.stop();
  meter.remove();
});

/** Streams that last; a look at who would answer is answered at once. */
function playStreams(tenths: number): void {
  rig.gpu.mode = ({ method }) =>
    method === "GET" ? { kind: "ok" } : { kind: "sse", events: tenths, gapMs: 100 };
}

/** One long call after the other until the first tier is full: those that come together may be one too many a worker. */
async function fill(settings: ChatSettings = {}): Promise<Promise<Answer>[]> {
  const calls: Promise<Answer>[] = [];
  for (let count = rig.gpu.active + 1; count <= most; count++) {
    calls.push(chat(rig.url, { stream: true, ...settings }));
    await waitFor(() => rig.gpu.active === count, 5_000, `${count} calls at the first tier`);
  }
  return calls;
}

async function nextBackend(): Promise<string | undefined> {
  return (await send(`${rig.url}/v1/models`)).headers["x-llm-breaker-backend"]?.toString();
}

async function waitForRoom(timeoutMs: number): Promise<void> {
  const isFirst = async (): Promise<boolean> => (await nextBackend()) === "gpu";
  await waitFor(isFirst, timeoutMs, "room at the first tier");
}

test("the call after the last one that fits takes the next tier, and the first again when one has ended", async () => {
  let count = 0;
  // The first to come is the first to end.
  rig.gpu.mode = () => ({ kind: "sse", events: count++ === 0 ? 12 : 30, gapMs: 100 });
  const calls = await fill();
  for (let call = 0; call < 8; call++) assert.equal(await nextBackend(), "small");
  assert.equal(rig.gpu.arrivals.length, most);
  assert.equal((await calls[0])?.headers["x-llm-breaker-backend"], "gpu");
  await waitForRoom(1_000);
  for (const { status, headers } of await Promise.all(calls)) {
    assert.equal(status, 200);
    assert.equal(headers["x-llm-breaker-backend"], "gpu");
  }
  assert.equal(rig.gpu.peak, most);
});

test("a call counts until it ends, whatever ends it: its caller, its failure, its move to another tier", async () => {
  playStreams(100);
  await Promise.all(await fill({ leaveAfterMs: 800 }));
  await waitForRoom(1_000);
  for (const kind of ["reset", "stall", "doneOnly"] as const) {
    rig.gpu.mode = { kind };
    const calls = Array.from({ length: most }, () => chat(rig.url, { stream: true }));
    for (const answer of await Promise.all(calls)) assert.equal(answer.status, 200);
    rig.gpu.mode = { kind: "ok" };
    await waitForRoom(1_000);
  }
  // All of it is free again, not only one.
  rig.reset();
  playStreams(15);
  const calls = await fill();
  assert.equal(await nextBackend(), "small");
  await Promise.all(calls);
});

test("a failing tier's callers do not crowd a full one: failover minds the limit too", async () => {
  playStreams(15);
  const calls = await fill();
  rig.small.mode = { kind: "status", status: 500 };
  assert.equal(await nextBackend(), "public");
  assert.equal(rig.gpu.arrivals.length, most);
  await Promise.all(calls);
});

test("calls of a worker whose VM died are forgotten, and no others", async () => {
  playStreams(200);
  const calls = await fill({ timeoutMs: 20_000 });
  rig.small.mode = deadlyAnswer;
  const startMs = performance.now();
  await chat(rig.url, { timeoutMs: 5_000 });
  rig.small.mode = { kind: "ok" };
  const broken = await Promise.race(calls);
  assert.ok(broken && (!broken.complete || broken.status >= 500), "its worker's calls are cut");
  await waitForRoom(forgottenMs + 3_000);
  assert.ok(performance.now() - startMs < forgottenMs + 2_000);
  // Those of the other workers still count.
  await waitFor(() => rig.gpu.active < most, 1_000, "the cut calls to be gone");
  const alive = rig.gpu.active;
  assert.ok(alive > 0, "no worker is left");
  playStreams(10);
  await fill();
  assert.equal(await nextBackend(), "small");
});
