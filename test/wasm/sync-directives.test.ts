import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { decodeRequest, type GivenDirective, type SentOverride } from "../support/sync-messages.js";
import { readRecord } from "./backend-record.js";
import { World } from "./host/world.js";
import { badRequest, completion, jsonHead, openGpu, recoverToRamp, sendProbe } from "./recovery.js";
import { SyncedProcess, syncedPolicy } from "./synced-process.js";
import { Worker } from "./worker.js";

let world: World;
let process: SyncedProcess;

beforeEach(() => {
  world = new World();
  process = new SyncedProcess(world);
});

function word(override: SentOverride): { override: SentOverride } {
  return { override: { remainingMs: 10_000, version: 5, who: "ann", why: "drill", ...override } };
}

const state = () => readRecord(world, "gpu").state;
const lines = () =>
  process.logs(/llm\.breaker override/).map((line) => JSON.parse(line.slice(line.indexOf("{"))));

describe("an operator's word", () => {
  test("holds at once in every worker, and ends by itself with the service away", () => {
    process = new SyncedProcess(world, syncedPolicy(), 2);
    process.hear(word({ mode: "FORCED_OPEN" }));
    process.tick();
    for (const worker of process.workers) assert.equal(worker.send().attempts[0]?.cluster, "small");
    process.wait(9_000);
    for (const worker of process.workers) assert.equal(worker.send().attempts[0]?.cluster, "small");
    process.wait(1_000);
    for (const worker of process.workers) assert.equal(worker.send().attempts[0]?.cluster, "gpu");
    assert.deepEqual(
      lines().map(({ mode, ended, who, why }) => ({ mode, ended, who, why })),
      [
        { mode: "forcedOpen", ended: undefined, who: "ann", why: "drill" },
        { mode: "enforce", ended: "over", who: undefined, why: undefined },
      ],
    );
  });

  test("opens what is closed by an opening of its own only as long as it lasts", () => {
    openGpu(world, process.worker);
    assert.equal(process.servedBy(badRequest), "small");
    process.hear(word({ mode: "FORCED_CLOSED", remainingMs: 3_000 }));
    assert.equal(process.servedBy(badRequest), "gpu", "what was known of the wait is forgotten");
    assert.equal(state(), "OPEN");
    process.wait(3_250);
    assert.notEqual(process.servedBy(badRequest), "gpu");
  });

  test("is echoed with what is left of it, also when the service has forgotten it", () => {
    process.hear(word({ mode: "DISABLED", why: "Grüße" }));
    process.hear();
    process.tick(1_000);
    process.nextCall();
    const { override, mode, policyMode } = process.service.report("gpu");
    assert.ok(override);
    const { remainingMs = 0, ...rest } = override;
    assert.deepEqual(rest, { mode: "DISABLED", version: 5, isWithdrawn: false, who: "ann", why: "Grüße" });
    assert.ok(remainingMs > 7_000 && remainingMs <= 8_000, String(remainingMs));
    assert.deepEqual([mode, policyMode], ["DISABLED", "ENFORCE"]);
  });

  test("gives way to a higher version, and to none that is lower", () => {
    process.hear(word({ mode: "FORCED_OPEN" }));
    process.hear(word({ mode: "FORCED_CLOSED", version: 4 }));
    assert.equal(process.servedBy(), "small");
    process.hear(word({ mode: "SHADOW", version: 6 }));
    assert.equal(process.servedBy(), "gpu");
    process.hear(word({ mode: "FORCED_OPEN", version: 7, isWithdrawn: true }));
    assert.equal(process.servedBy(), "gpu");
    process.hear(word({ mode: "FORCED_OPEN" }));
    assert.equal(process.servedBy(), "gpu", "a word that was taken back does not come again");
    process.tick();
    assert.equal(lines().at(-1)?.ended, "withdrawn");
  });

  test("is none with a mode or without a version that this filter knows", () => {
    process.hear(word({ mode: 17 }));
    assert.equal(process.servedBy(), "gpu");
    process.hear(word({ mode: "FORCED_OPEN", version: 0 }));
    assert.equal(process.servedBy(), "gpu");
    process.hear(word({ mode: "FORCED_OPEN", remainingMs: 0 }));
    assert.equal(process.servedBy(), "gpu");
  });

  test("is one line of the log, whatever its text holds, and no longer than it may be", () => {
    const evil = `a"b\\c\nd\u001b[31m\u007f${"é".repeat(300)}`;
    process.hear(word({ mode: "FORCED_OPEN", who: evil, why: evil }));
    process.tick();
    const [line] = process.logs(/llm\.breaker override/);
    assert.ok(line);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    assert.doesNotMatch(line, /[\u0000-\u001f\u007f]/);
    const told = JSON.parse(line.slice(line.indexOf("{"))) as { who: string; why: string };
    assert.ok(told.who.startsWith("a'b/c d [31m é"), told.who);
    assert.ok(!told.who.includes("\ufffd") && Buffer.byteLength(told.who) <= 256);
  });
});

/** Canaries that go well, until there can be none any more. */
function feedRamp(count = 3): void {
  for (let sent = 0; sent < count; sent++) process.worker.send();
}

test("a pushed policy, and a worker that meets it with a request, go by an operator's word from the start", () => {
  process.hear(word({ mode: "FORCED_OPEN" }));
  const policy = syncedPolicy({ failureRateThreshold: 50 });
  const late = new Worker(world, policy);
  assert.equal(late.send().attempts[0]?.cluster, "small");
});

describe("a recovered backend", () => {
  const full = { isFresh: true, isWhole: true, kvCacheUse: 901 };

  const held: Readonly<Record<string, Readonly<Record<string, number | boolean>>>> = {
    "its cache is full": full,
    "its cache is as full as it may not be": { ...full, kvCacheUse: 751 },
    "its samples do not cover five seconds": { ...full, kvCacheUse: 101, isWhole: false },
    "its signals are stale": { ...full, kvCacheUse: 101, isFresh: false },
  };
  for (const [why, signals] of Object.entries(held)) {
    test(`stays half-open while ${why}, and closes a tick after`, () => {
      recoverToRamp(world, process.worker);
      process.hear({ signals });
      feedRamp();
      assert.equal(state(), "HALF_OPEN");
      process.hear({ signals });
      assert.equal(state(), "HALF_OPEN");
      process.hear({ signals: { ...full, kvCacheUse: 750 } });
      process.tick();
      assert.equal(state(), "CLOSED");
      assert.equal(process.servedBy(), "gpu");
    });
  }

  const free: Readonly<Record<string, Omit<GivenDirective, "name">>> = {
    "no signals are configured": {},
    "the page has no figure of its cache": { signals: { isFresh: true, isWhole: true } },
    "its cache has room": { signals: { ...full, kvCacheUse: 750 } },
  };
  for (const [why, directive] of Object.entries(free)) {
    test(`closes when ${why}`, () => {
      recoverToRamp(world, process.worker);
      process.hear(directive);
      feedRamp();
      assert.equal(state(), "CLOSED");
    });
  }

  test("waits for silent signals 30 s, and no longer", () => {
    recoverToRamp(world, process.worker);
    process.hear({ signals: { ...full, kvCacheUse: 101 } });
    process.wait(5_250);
    feedRamp();
    assert.equal(state(), "HALF_OPEN");
    process.wait(24_000);
    assert.equal(state(), "HALF_OPEN");
    process.wait(1_000);
    assert.equal(state(), "CLOSED");
  });
});

test("a report tells the seconds since the last one, what the window holds and what the process has counted", () => {
  process.service.answer(process.nextCall(), [{ name: "gpu" }]);
  for (let second = 0; second < 3; second++) {
    process.worker.send();
    process.worker.send({
      answer: (cluster) => (cluster === "gpu" ? { status: 500, body: ["no"] } : badRequest),
    });
    world.clock.advance(1_000);
  }
  process.tick();
  process.service.answer(process.nextCall(), [{ name: "gpu" }]);
  const first = process.service.report("gpu");
  assert.deepEqual([first.window.calls, first.window.failures, first.window.weightedFailures], [6, 3, 300]);
  assert.deepEqual(
    first.seconds.map(({ calls, failures }) => [calls, failures]),
    [
      [2, 1],
      [2, 1],
      [2, 1],
    ],
  );
  assert.ok(
    first.seconds.every(({ ageMs }, index, all) => index === 0 || ageMs < (all[index - 1]?.ageMs ?? 0)),
  );
  assert.equal(first.counters.permitted, 6);
  assert.deepEqual([first.counters.success, first.counters.failure], [3, 3]);
  process.worker.send();
  process.tick();
  process.tick(1_750);
  const second = decodeRequest(process.nextCall().body).backends[0];
  assert.deepEqual(
    second?.seconds.map(({ calls }) => calls),
    [1],
  );
});

test("a report of a ramp tells its canaries in flight and its cap", () => {
  recoverToRamp(world, process.worker);
  const scope = process.worker.newScope();
  const gate = process.worker.openGate(scope);
  const headers = process.worker.plainHeaders();
  headers.set("content-length", "13");
  gate.requestHeaders(headers);
  gate.requestBody('{"model":"m"}', true);
  process.tick(1_000);
  process.nextCall();
  const {
    state: told,
    stage,
    livePermits,
    stageCap,
    probeLeaseMs,
    probeTimeoutMs,
  } = process.service.report("gpu");
  assert.deepEqual([told, stage, livePermits, stageCap], ["HALF_OPEN", 1, 1, 2]);
  assert.deepEqual([probeLeaseMs, probeTimeoutMs], [10_000, 8_000]);
  gate.endDownstream();
});

test("a probe's verdict is told with the next tick", () => {
  openGpu(world, process.worker);
  const probe = sendProbe(world, process.worker);
  process.service.takeCalls();
  process.worker.vm.answerHttpCall(probe, jsonHead, completion);
  world.clock.advance(1_000);
  process.worker.vm.tick(process.worker.gate);
  assert.deepEqual(
    [process.service.report("gpu").state, process.service.report("gpu").stage],
    ["HALF_OPEN", 1],
  );
});
