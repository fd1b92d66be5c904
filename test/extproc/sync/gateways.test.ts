import assert from "node:assert/strict";
import { test } from "node:test";
import type { Advice, BackendReport, Transition } from "../../../extproc/sync/contract.js";
import { EPOCH, SyncFleet } from "../support/sync-fleet.js";
import { report } from "../support/sync-messages.js";

const OPENED: Transition = {
  generation: 2,
  from: "CLOSED",
  to: "OPEN",
  stage: 0,
  cause: "FAILURE_RATE",
  openings: 1,
  ageMs: 300,
  waitMs: 5_000,
  calls: 20,
  weightedFailures: 1_000,
  consecutiveFailures: 4,
};

function open(given: Partial<BackendReport> = {}): BackendReport {
  return report("gpu", {
    state: "OPEN",
    generation: 2,
    openings: 1,
    cause: "FAILURE_RATE",
    waitRemainingMs: 5_000,
    isEvidence: true,
    transitions: [OPENED],
    ...given,
  });
}

test("answers each backend with what advisors say, and acknowledges its transitions", () => {
  const fleet = new SyncFleet();
  fleet.advice = { group: { mayProbeMs: 5, rampShare: 1, live: 3, evidence: 2 } };
  assert.deepEqual(fleet.sync([report("gpu", { generation: 7 }), report("small")], { sequence: 41 }), {
    sequence: 41,
    directives: [
      { name: "gpu", acknowledgedGeneration: 7, ...fleet.advice },
      { name: "small", acknowledgedGeneration: 1, ...fleet.advice },
    ],
    nextMs: 1000,
  });
  const [gateway] = fleet.gateways.list();
  assert.deepEqual([gateway?.node, gateway?.silentMs, gateway?.policy], ["gateway-a", 0, "chat"]);
  assert.equal(gateway?.backends.get("gpu")?.report.generation, 7);
  assert.deepEqual(gateway?.backends.get("gpu")?.advice, fleet.advice);
});

test("has all advisors observe before one of them advises, and hears the first of two on one thing", () => {
  const fleet = new SyncFleet();
  const calls: string[] = [];
  const advisor = (name: string, advice: Advice) => ({
    observe: () => void calls.push(`${name} observes`),
    advise: () => {
      calls.push(`${name} advises`);
      return advice;
    },
  });
  const signals = (waiting: number) => ({ isFresh: true, isWhole: true, isQueueLong: false, waiting });
  fleet.advisors = [
    advisor("a", { signals: signals(1) }),
    advisor("b", { signals: signals(2), group: { mayProbeMs: 0, rampShare: 0, live: 1, evidence: 0 } }),
  ];
  const [directive] = fleet.sync([report("gpu")]).directives;
  assert.deepEqual(calls, ["a observes", "b observes", "a advises", "b advises"]);
  assert.deepEqual([directive?.signals?.waiting, directive?.group?.live], [1, 1]);
});

test("asks to be asked soon while something is under way", () => {
  const fleet = new SyncFleet();
  fleet.isBusy = true;
  assert.equal(fleet.sync([report("gpu")]).nextMs, 250);
  fleet.isBusy = false;
  assert.equal(fleet.sync([report("gpu")]).nextMs, 1000);
});

test("answers what is old or comes twice, and takes it in no more", () => {
  const fleet = new SyncFleet();
  fleet.sync([open()], { sequence: 10 });
  const late = fleet.sync([report("gpu", { state: "HALF_OPEN", generation: 1 })], { sequence: 9 });
  assert.deepEqual(late.directives, [{ name: "gpu", acknowledgedGeneration: 2 }]);
  fleet.sync([open()], { sequence: 10 });
  assert.deepEqual([fleet.observed.length, fleet.transitions.length], [1, 1]);
  assert.equal(fleet.gateways.list()[0]?.backends.get("gpu")?.report.state, "OPEN");
});

test("lets go of a gateway after 3 s of silence, once, and takes any sequence when it is back", () => {
  const fleet = new SyncFleet();
  fleet.sync([report("gpu")], { sequence: 500 });
  fleet.pass(2_999);
  fleet.gateways.sweep();
  assert.deepEqual(fleet.forgotten, []);
  fleet.pass(1);
  fleet.gateways.sweep();
  fleet.gateways.sweep();
  assert.deepEqual(fleet.forgotten, [{ process: "00000000000000aa", node: "gateway-a", policy: "chat" }]);
  assert.deepEqual(fleet.gateways.list(), []);
  assert.equal(fleet.sync([report("gpu")], { sequence: 3 }).directives.length, 1);
  assert.equal(fleet.gateways.list().length, 1);
  assert.deepEqual(fleet.lines, ["gateway syncs", "gateway is silent", "gateway syncs"]);
});

test("a gateway whose policy is reported in turns is observed whole; what a push removed is gone at once", () => {
  const fleet = new SyncFleet();
  const names = () => fleet.observed.at(-1)?.[1].map(({ name }) => name);
  fleet.sync([report("a"), report("b")]);
  fleet.pass(1_000);
  assert.deepEqual(
    fleet.sync([report("c")]).directives.map(({ name }) => name),
    ["c"],
  );
  assert.deepEqual(names(), ["a", "b", "c"]);
  for (let second = 0; second < 10; second++) {
    fleet.pass(1_000);
    fleet.sync([report("c")]);
  }
  assert.deepEqual(names(), ["c"]);
  fleet.sync([report("d")], { policyHash: "another" });
  assert.deepEqual(names(), ["d"]);
});

test("tells each transition once, by our clock, however often it is sent", () => {
  const fleet = new SyncFleet();
  fleet.sync([open()]);
  fleet.sync([open({ transitions: [OPENED, { ...OPENED, generation: 3, to: "HALF_OPEN", ageMs: 0 }] })]);
  assert.deepEqual(
    fleet.transitions.map(({ backend, transition, atMs }) => [backend, transition.generation, atMs]),
    [
      ["gpu", 2, EPOCH + fleet.now - 300],
      ["gpu", 3, EPOCH + fleet.now],
    ],
  );
  // After a silence the answer that acknowledged them may not have come through.
  fleet.pass(10_000);
  fleet.gateways.sweep();
  fleet.sync([open()]);
  assert.equal(fleet.transitions.length, 2);
  // Another process of the same node has transitions of its own.
  fleet.sync([open()], { process: "bb" });
  assert.equal(fleet.transitions.length, 3);
});

test("hands what the process before knew to the one after it", () => {
  const summaryOf = (before: BackendReport, ms: number, node = "gateway-a") => {
    const fleet = new SyncFleet();
    fleet.sync([before]);
    fleet.pass(ms);
    const restarted = { process: "bb", node, asksRestore: true };
    return fleet.sync([report("gpu")], restarted).directives[0]?.summary;
  };
  const known = { state: "OPEN", openings: 3, isEvidence: true, track: 9 };
  const before = open({ openings: 3, track: 9 });
  assert.deepEqual(summaryOf(before, 2_000), { ...known, waitMs: 3_000 });
  assert.deepEqual(summaryOf(before, 60_000), { ...known, waitMs: 0 });
  assert.equal(summaryOf(before, 120_001), undefined, "too old");
  assert.equal(summaryOf(before, 2_000, "gateway-b"), undefined, "another gateway's");
  const probing = { ...before, state: "HALF_OPEN" as const, stage: 2, waitRemainingMs: 0 };
  assert.deepEqual(summaryOf(probing, 1_000), { ...known, waitMs: 0 });
  assert.equal(summaryOf(report("gpu", { openings: 2 }), 1_000), undefined, "closed");
});

test("a restarted process that asks twice is answered twice, and its own start erases nothing", () => {
  const fleet = new SyncFleet();
  fleet.sync([open()]);
  fleet.pass(1_000);
  const restarted = { process: "bb", asksRestore: true };
  for (const waitMs of [4_000, 4_000])
    assert.equal(fleet.sync([report("gpu")], restarted).directives[0]?.summary?.waitMs, waitMs);
  // It asks no more: from now on it is who stands for the gateway.
  assert.equal(fleet.sync([report("gpu")], { process: "bb" }).directives[0]?.summary, undefined);
  assert.equal(
    fleet.sync([report("gpu")], { process: "cc", asksRestore: true }).directives[0]?.summary,
    undefined,
  );
});

test("an opening that a process told in its first request is known to the one after it", () => {
  const fleet = new SyncFleet();
  fleet.sync([open()], { asksRestore: true });
  assert.equal(
    fleet.sync([report("gpu")], { process: "bb", asksRestore: true }).directives[0]?.summary?.openings,
    1,
  );
});

test("a reload exchanges advisors without a gap", () => {
  const fleet = new SyncFleet();
  fleet.sync([report("gpu")]);
  fleet.advisors = [{ advise: () => ({ signals: { isFresh: true, isWhole: false, isQueueLong: true } }) }];
  assert.equal(fleet.sync([report("gpu")]).directives[0]?.signals?.isQueueLong, true);
  assert.equal(fleet.gateways.list().length, 1);
});

test("an advisor that fails costs no other's word, and is told once in 10 s", () => {
  const fleet = new SyncFleet();
  const fail = () => {
    throw new Error("a fault");
  };
  const signals = { isFresh: true, isWhole: true, isQueueLong: false };
  fleet.advisors = [{ observe: fail, forget: fail, advise: fail }, { advise: () => ({ signals }) }];
  const faults = () => fleet.lines.filter((line) => line.endsWith("has failed")).length;
  for (let times = 0; times < 11; times++) {
    assert.deepEqual(fleet.sync([report("gpu")]).directives[0]?.signals, signals);
    assert.equal(faults(), times < 10 ? 1 : 2);
    fleet.pass(1_000);
  }
  fleet.pass(9_000);
  fleet.gateways.sweep();
  assert.deepEqual([faults(), fleet.gateways.list().length], [3, 0]);
});

test("restores nothing where several live gateways have one name", () => {
  const fleet = new SyncFleet();
  const restored = { process: "cc", asksRestore: true };
  fleet.sync([open()]);
  assert.ok(
    fleet.sync([report("gpu")], restored).directives[0]?.summary,
    "its predecessor's death is not known yet",
  );
  fleet.sync([report("gpu")], { process: "bb" });
  fleet.sync([open()]);
  assert.equal(fleet.sync([report("gpu")], restored).directives[0]?.summary, undefined);
});

test("a transition that is said to be older than dates go is told as a year old", () => {
  const fleet = new SyncFleet();
  fleet.sync([open({ transitions: [{ ...OPENED, ageMs: Number.MAX_SAFE_INTEGER }] })]);
  const [happened] = fleet.transitions;
  assert.equal(happened?.atMs, EPOCH + fleet.now - 31_536_000_000);
});
