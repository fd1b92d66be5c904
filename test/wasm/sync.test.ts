import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { decodeRequest, encodeResponse, type GivenDirective } from "../support/sync-messages.js";
import { readRecord } from "./backend-record.js";
import { World } from "./host/world.js";
import { openGpu } from "./recovery.js";
import { SyncService } from "./sync-service.js";
import { SyncedProcess, syncedPolicy } from "./synced-process.js";

let world: World;

beforeEach(() => {
  world = new World();
});

const forcedOpen: GivenDirective = {
  name: "gpu",
  override: { mode: "FORCED_OPEN", remainingMs: 60_000, version: 7, who: "ann", why: "test" },
};
const opened: GivenDirective = {
  name: "gpu",
  summary: { state: "OPEN", openings: 3, waitMs: 20_000, isEvidence: true, track: 9 },
};

describe("the talk with the service", () => {
  test("is one request a second over eight workers", () => {
    const process = new SyncedProcess(world, syncedPolicy(), 8);
    for (let tick = 0; tick < 80; tick++) {
      process.tick();
      for (const call of process.service.takeCalls()) process.service.answer(call);
    }
    const { length } = process.service.calls;
    assert.ok(length >= 19 && length <= 21, `${length} requests in 20 s`);
  });

  test("says who asks, and counts its requests from somewhere", () => {
    const process = new SyncedProcess(world);
    process.worker.gate.properties = { xds: { node: { id: "gateway-a" } } };
    const first = decodeRequest(process.nextCall().body);
    assert.match(first.process, /^[0-9a-f]{16}$/);
    assert.match(first.policyHash, /^[0-9a-f]{16}$/);
    assert.deepEqual([first.node, first.policy], ["gateway-a", "test"]);
    assert.deepEqual(
      first.backends.map(({ name, state, generation, mode }) => [name, state, generation, mode]),
      ["gpu", "small", "public"].map((name) => [name, "CLOSED", 1, "ENFORCE"]),
    );
    process.tick(1_000);
    const second = decodeRequest(process.nextCall().body);
    assert.equal(second.sequence, first.sequence + 1);
    assert.equal(second.process, first.process);
    const other = new SyncedProcess(new World(undefined, 2));
    assert.notEqual(decodeRequest(other.nextCall().body).sequence, first.sequence);
  });

  test("comes a tick after a transition, and no sooner than 200 ms after the last request", () => {
    const process = new SyncedProcess(world);
    process.service.answer(process.nextCall());
    openGpu(world, process.worker);
    process.tick(100);
    assert.equal(process.service.takeCalls().length, 0);
    process.tick(150);
    assert.equal(process.service.takeCalls().length, 1);
    const { state, isEvidence, transitions } = process.service.report("gpu");
    assert.deepEqual([state, isEvidence, transitions.length], ["OPEN", true, 1]);
  });

  test("comes as soon as the answer wants it, within 200 ms to a second", () => {
    const process = new SyncedProcess(world);
    for (const [nextMs, waitMs] of [
      [500, 500],
      [1, 200],
      [90_000, 1_000],
      [0, 1_000],
    ] as const) {
      process.service.answer(process.nextCall(), [], { nextMs });
      process.tick(waitMs - 60);
      assert.equal(process.service.takeCalls().length, 0, `sooner than ${waitMs} ms`);
      process.tick(60);
      assert.equal(process.service.calls.length > 0, true);
    }
    assert.equal(process.service.calls.length, 5);
  });

  test("has one request in flight, however long the service takes", () => {
    const process = new SyncedProcess(world);
    process.nextCall();
    openGpu(world, process.worker);
    process.tick(250);
    process.tick(250);
    assert.equal(process.service.takeCalls().length, 0);
    process.tick(500);
    assert.equal(process.service.takeCalls().length, 1, "what was lost is not waited for");
  });

  test("is held for each policy of the process", () => {
    const process = new SyncedProcess(world);
    const other = process.worker.vm.addRoot("gate", syncedPolicy({}, { name: "other" }));
    assert.ok(other.configured);
    process.tick();
    process.worker.vm.tick(other.root);
    const policies = process.service.requests.map(({ policy }) => policy);
    assert.deepEqual(policies.sort(), ["other", "test"]);
    assert.deepEqual(world.shared.keys.filter((key) => key.startsWith("llm.breaker/leader/")).sort(), [
      "llm.breaker/leader/other",
      "llm.breaker/leader/test",
    ]);
    const [first, second] = process.service.calls;
    assert.ok(first && second);
    process.service.answer(second, [forcedOpen]);
    process.service.answer(first);
    assert.equal(process.servedBy(), "small");
  });

  test("is silent under a policy that names no service, and for a root whose policy is old", () => {
    const process = new SyncedProcess(world);
    process.service.answer(process.nextCall());
    const pushed = process.worker.vm.addRoot("gate", syncedPolicy({ failureRateThreshold: 50 }));
    assert.ok(pushed.configured);
    process.tick(2_000);
    assert.equal(process.service.takeCalls().length, 0, "the old root");
    process.worker.vm.tick(pushed.root);
    assert.equal(process.service.takeCalls().length, 1, "the new root");
    const alone = new SyncedProcess(new World(), syncedPolicy({}, { service: undefined }));
    for (let tick = 0; tick < 20; tick++) alone.tick();
    assert.equal(alone.world.httpCalls.length, 0);
  });

  test("tells of two hundred backends at once, and of as many as a policy may have in two turns", () => {
    const process = new SyncedProcess(world, crowdedPolicy(200));
    const first = process.nextCall();
    assert.equal(decodeRequest(first.body).backends.length, 200);
    process.service.answer(first, [{ ...forcedOpen, name: "backend-0" }]);
    assert.equal(process.servedBy(), undefined);

    const crowd = new SyncedProcess(new World(), crowdedPolicy(512));
    const seen = new Set<string>();
    for (let turn = 0; turn < 2; turn++) {
      const call = crowd.nextCall();
      assert.ok(call.body.length <= 1 << 18, `${call.body.length} bytes`);
      for (const { name } of decodeRequest(call.body).backends) seen.add(name);
      crowd.service.answer(call);
    }
    assert.equal(seen.size, 512);
  });

  test("names the chains and their tiers, the first 64 of them beside every backend", () => {
    const process = new SyncedProcess(world);
    assert.deepEqual(decodeRequest(process.nextCall().body).chains, [
      { name: "chat", tiers: ["gpu", "small", "public"] },
    ]);
    const tiers = Array.from({ length: 8 }, (_, index) => String(index).repeat(63));
    const wide = (index: number) => `${index}${"\u{1f600}".repeat(30)}`;
    const chains = Object.fromEntries(Array.from({ length: 255 }, (_, index) => [wide(index), { tiers }]));
    const backends = Object.fromEntries(tiers.map((name) => [name, {}]));
    const many = new SyncedProcess(new World(), syncedPolicy({}, { backends, chains }));
    const sent = decodeRequest(many.nextCall().body);
    assert.equal(sent.backends.length, 8);
    assert.deepEqual(
      sent.chains,
      Array.from({ length: 64 }, (_, index) => ({ name: wide(index), tiers })),
    );
  });

  test("is cut where reports are long, and takes no more memory with time", () => {
    const process = new SyncedProcess(world, crowdedPolicy(500));
    const names = decodeRequest(process.nextCall().body).backends.map(({ name }) => name);
    const word = { mode: "FORCED_CLOSED", remainingMs: 600_000, version: 8 };
    const override = { ...word, who: "w".repeat(256), why: "y".repeat(700) };
    process.service.answer(
      process.service.last.call,
      names.map((name) => ({ name, override })),
    );
    const seen: string[] = [];
    let grown = 0;
    for (let turn = 0; turn < 8; turn++) {
      const call = process.nextCall();
      assert.ok(call.body.length <= 1 << 18, `${call.body.length} bytes`);
      seen.push(...decodeRequest(call.body).backends.map(({ name }) => name));
      process.service.answer(call);
      if (turn === 3) grown = process.worker.vm.memory.byteLength;
      process.tick(1_000);
    }
    assert.equal(new Set(seen).size, 500);
    assert.ok(seen.length < 8 * 500, "all of them fitted, so that this shows nothing");
    assert.equal(process.worker.vm.memory.byteLength, grown, "memory grows with every request");
  });
});

function crowdedPolicy(count: number): string {
  const names = Array.from({ length: count }, (_, index) => `backend-${index}`);
  const backends = Object.fromEntries(names.map((name) => [name, {}]));
  return syncedPolicy({}, { backends, chains: { chat: { tiers: ["backend-0"] } } });
}

describe("a process that has just started", () => {
  test("asks for a summary until the first good answer, once for all workers", () => {
    const process = new SyncedProcess(world, syncedPolicy(), 3);
    const first = process.nextCall();
    assert.equal(decodeRequest(first.body).asksRestore, true);
    process.service.answerBytes(first, Buffer.from("no"), "503");
    process.tick(1_000);
    const second = process.nextCall();
    assert.equal(decodeRequest(second.body).asksRestore, true);
    process.service.answer(second, [opened]);
    assert.equal(readRecord(world, "gpu").state, "OPEN");
    process.tick();
    const report = decodeRequest(process.nextCall().body);
    assert.equal(report.asksRestore, false);
    const { openings, waitRemainingMs, isEvidence, track } = process.service.report("gpu");
    assert.deepEqual([openings, isEvidence, track], [3, true, 9]);
    assert.ok(waitRemainingMs > 19_000 && waitRemainingMs <= 20_000, String(waitRemainingMs));
  });

  test("takes no summary over what it has seen by itself", () => {
    const process = new SyncedProcess(world);
    const call = process.nextCall();
    openGpu(world, process.worker);
    const { generation } = readRecord(world, "gpu");
    process.service.answer(call, [opened]);
    assert.equal(readRecord(world, "gpu").generation, generation);
  });
});

describe("an answer changes nothing", () => {
  const state = () => world.shared.keys.map((key) => `${key}=${world.shared.peek(key)?.toString("hex")}`);

  const refusals: Readonly<Record<string, (sequence: number) => readonly [Buffer, string?]>> = {
    "with another status": (sequence) => [encodeResponse({ sequence, directives: [forcedOpen] }), "500"],
    "that is empty": () => [Buffer.alloc(0)],
    "of another request": (sequence) => [
      encodeResponse({ sequence: sequence - 1, directives: [forcedOpen] }),
    ],
    "of a request to come": (sequence) => [
      encodeResponse({ sequence: sequence + 1, directives: [forcedOpen] }),
    ],
    "that is cut short": (sequence) => [
      encodeResponse({ sequence, directives: [forcedOpen] }).subarray(0, -1),
    ],
    "above a mebibyte": (sequence) => [
      Buffer.concat([
        encodeResponse({ sequence, directives: [forcedOpen] }),
        ...Array.from({ length: 600 }, () =>
          Buffer.concat([Buffer.from([0x7a, 0x80, 0x10]), Buffer.alloc(2_048)]),
        ),
      ]),
    ],
  };
  for (const [what, make] of Object.entries(refusals)) {
    test(what, () => {
      const process = new SyncedProcess(world);
      const call = process.nextCall();
      const before = state();
      const [bytes, status] = make(decodeRequest(call.body).sequence);
      process.service.answerBytes(call, bytes, status);
      assert.deepEqual(state(), before);
      assert.equal(process.servedBy(), "gpu");
    });
  }

  test("that comes after a later one's", () => {
    const process = new SyncedProcess(world, syncedPolicy(), 2);
    const slow = process.nextCall();
    // Its VM hangs: another one leads, and is answered first.
    const other = process.workers.find(({ vm }) => vm !== slow.vm);
    assert.ok(other);
    world.clock.advance(3_000);
    other.vm.tick(other.gate);
    const [quick] = process.service.takeCalls();
    assert.ok(quick);
    process.service.answer(quick);
    const before = state();
    process.service.answer(slow, [forcedOpen]);
    assert.deepEqual(state(), before);
  });

  test("when no answer comes at all", () => {
    const process = new SyncedProcess(world);
    const call = process.nextCall();
    const before = state();
    call.vm.answerHttpCall(call);
    assert.deepEqual(state(), before);
  });
});

test("what the service is told is read by none but the cluster that the policy names", () => {
  const process = new SyncedProcess(world);
  process.nextCall();
  const [call] = new SyncService(world).calls;
  assert.ok(call);
  assert.deepEqual(
    call.headers.entries.map(([name, value]) => `${name}: ${value}`),
    [
      ":method: POST",
      ":path: /v1/sync",
      ":authority: llm-breaker-service",
      "content-type: application/x-protobuf",
    ],
  );
  assert.equal(call.timeoutMs, 800);
});
