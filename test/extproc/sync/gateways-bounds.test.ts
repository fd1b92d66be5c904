import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NO_COUNTERS, NO_WINDOW } from "../../../extproc/sync/blank.js";
import type { SyncRequest } from "../../../extproc/sync/contract.js";
import { SyncFleet } from "../support/sync-fleet.js";
import { report, request } from "../support/sync-messages.js";

test("tells a 65th gateway nothing, says so once, and hears it when another has gone", () => {
  const fleet = new SyncFleet();
  for (let index = 0; index < 64; index++) fleet.sync([report("gpu")], { process: `p${index}` });
  for (let times = 0; times < 3; times++)
    assert.deepEqual(fleet.sync([report("gpu")], { process: "late", sequence: 5 }), {
      sequence: 5,
      directives: [],
      nextMs: 1000,
    });
  assert.equal(fleet.lines.filter((line) => line.startsWith("too many")).length, 1);
  assert.equal(fleet.gateways.list().length, 64);
  fleet.pass(2_000);
  for (let index = 1; index < 64; index++) fleet.sync([report("gpu")], { process: `p${index}` });
  fleet.pass(1_000);
  assert.equal(fleet.sync([report("gpu")], { process: "late" }).directives.length, 1);
});

test("a process that is killed over and over leaves nothing behind that grows", () => {
  const fleet = new SyncFleet();
  for (let index = 0; index < 2_000; index++) {
    fleet.sync([report(`b${index}`, { seconds: [{ ...NO_WINDOW, ageMs: 0, calls: 1 }] })], {
      process: `p${index}`,
      node: `n${index}`,
    });
    fleet.pass(100);
  }
  const { members, rings, summaries } = fleet.gateways as unknown as Record<string, { size: number }>;
  assert.ok((members?.size ?? 999) <= 128, `${members?.size} members`);
  assert.equal(rings?.size, 512);
  assert.deepEqual(fleet.gateways.secondsOf("b1999"), []);
  assert.ok((summaries?.size ?? 99_999) <= 32_768);
  assert.equal([...fleet.gateways.totals()].length, 1024);
  fleet.pass(3_600_000);
  fleet.sync([report("new", { seconds: [{ ...NO_WINDOW, ageMs: 0, calls: 1 }] })]);
  assert.deepEqual([rings?.size, fleet.gateways.secondsOf("new").length], [1, 1]);
});

test("counts of policies that are gone make room for new ones, those of live ones never", () => {
  const fleet = new SyncFleet();
  const counted = () => new Set([...fleet.gateways.totals()].map(({ policy }) => policy));
  fleet.sync([report("gpu")], { policy: "lasting" });
  for (let index = 0; index < 1_100; index++) {
    fleet.pass(100);
    fleet.sync([report("gpu")], { process: `p${index}`, policy: `v${index}` });
  }
  assert.equal(counted().size, 1024);
  assert.equal(counted().has("v1099"), false);
  fleet.pass(300_000);
  fleet.sync([report("gpu")], { policy: "lasting" });
  fleet.sync([report("gpu")], { process: "next", policy: "next" });
  assert.equal(counted().size, 1024);
  assert.deepEqual(
    [counted().has("next"), counted().has("lasting"), counted().has("v0")],
    [true, true, false],
  );
});

/** What a gateway sends over its life, as it counts and moves; each message tells all since the acknowledged one. */
function story(length: number): SyncRequest[] {
  return Array.from({ length }, (_, index) =>
    request(
      [
        report("gpu", {
          generation: index + 1,
          counters: { ...NO_COUNTERS, permitted: 10 * index, refused: index },
          transitions: Array.from({ length: Math.min(8, index) }, (_unused, back) => ({
            generation: index + 1 - Math.min(8, index) + back + 1,
            from: "CLOSED" as const,
            to: "OPEN" as const,
            stage: 0,
            cause: "FAILURE_RATE",
            openings: 1,
            ageMs: 0,
            waitMs: 0,
            calls: 0,
            weightedFailures: 0,
            consecutiveFailures: 0,
          })),
        }),
      ],
      { sequence: index + 1, asksRestore: index === 0 },
    ),
  );
}

test("however messages are lost, doubled and reordered, nothing counts twice and the newest holds", () => {
  const messages = story(20);
  const schedule = fc.array(fc.nat(19), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(schedule, (order) => {
      const fleet = new SyncFleet();
      for (const index of order) {
        const sent = messages[index] as SyncRequest;
        const answer = fleet.gateways.exchange(sent);
        assert.equal(answer.sequence, sent.sequence);
        fleet.pass(20);
      }
      const newest = Math.max(...order);
      const view = fleet.gateways.list()[0]?.backends.get("gpu");
      assert.equal(view?.report.generation, newest + 1);
      const generations = fleet.transitions.map(({ transition }) => transition.generation);
      assert.deepEqual(
        generations,
        [...new Set(generations)].sort((a, b) => a - b),
      );
      const [total] = fleet.gateways.totals();
      const first = order[0] ?? 0;
      const from = first === 0 ? 0 : 10 * first;
      assert.equal(total?.counters.permitted, 10 * newest - from);
    }),
    { numRuns: 300 },
  );
});
