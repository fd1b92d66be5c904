import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { TrendsView } from "../../../extproc/control/schemas.js";
import { Trends } from "../../../extproc/control/trends.js";
import { NO_COUNTERS } from "../../../extproc/sync/blank.js";
import type { Counters } from "../../../extproc/sync/contract.js";
import { ControlRig, report } from "../support/control.js";

const NEW = { asksRestore: true };

const counted = (changes: Partial<Counters>) => ({ counters: { ...NO_COUNTERS, ...changes } });

const pointsOf = (rig: ControlRig, name = "gpu", after?: number) =>
  rig.trends.view(after).backends.find((backend) => backend.name === name)?.points ?? [];

const NOTHING = { permitted: 0, refused: 0, diverted: 0, success: 0, failure: 0 };

test("a point has what all gateways counted in its five seconds, and the worst state at its end", () => {
  const rig = new ControlRig();
  rig.sync([report("gpu", counted({ permitted: 3, refused: 1, limited: 2, shed: 4, success: 2 }))], NEW);
  rig.pass(1_000);
  rig.sync([report("gpu", { state: "OPEN", ...counted({ permitted: 9, diverted: 1, failure: 5 }) })], {
    ...NEW,
    process: "00000000000000b2",
  });
  assert.equal(pointsOf(rig).length, 180);
  assert.deepEqual(pointsOf(rig).at(-1), NOTHING, "what is not over is not told");
  rig.pass(2_500);
  rig.sync([report("gpu", counted({ permitted: 4, refused: 1, limited: 2, shed: 4, success: 3 }))]);
  rig.pass(1_500);
  assert.deepEqual(pointsOf(rig).slice(-2), [
    NOTHING,
    { permitted: 13, refused: 7, diverted: 1, success: 3, failure: 5, state: "OPEN" },
  ]);
  rig.sync([report("gpu", { state: "HALF_OPEN" })], { process: "00000000000000b2" });
  rig.sync([report("gpu")]);
  rig.pass(5_000);
  assert.equal(pointsOf(rig).at(-1)?.state, "HALF_OPEN");
});

test("what a process counted for a service before this one is not counted again", () => {
  const rig = new ControlRig();
  rig.sync([report("gpu", counted({ permitted: 100 }))]);
  rig.pass(1_000);
  rig.sync([report("gpu", counted({ permitted: 107 }))]);
  rig.pass(4_000);
  assert.equal(pointsOf(rig).at(-1)?.permitted, 7);
});

test("a time in which nobody reported is a gap, and what is older than 15 minutes is gone", () => {
  const rig = new ControlRig();
  rig.sync([report("gpu", counted({ permitted: 1 }))], NEW);
  rig.pass(5_000);
  rig.gateways.sweep();
  rig.trends.close();
  rig.pass(20_000);
  const last = pointsOf(rig).slice(-6);
  assert.deepEqual(
    last.map(({ permitted }) => permitted),
    [0, 1, 0, 0, 0, 0],
  );
  assert.ok(last.every(({ state }) => state === undefined));
  rig.pass(875_000);
  assert.equal(pointsOf(rig)[0]?.permitted, 1);
  rig.pass(5_000);
  assert.deepEqual(rig.trends.view().backends, []);
});

test("who knows a part already gets the rest, by the end that he was told", () => {
  const rig = new ControlRig();
  rig.sync([report("gpu")], NEW);
  const { endMs } = rig.trends.view();
  assert.equal(pointsOf(rig, "gpu", endMs).length, 0);
  rig.pass(10_400);
  rig.wallMs += 3;
  assert.equal(pointsOf(rig, "gpu", endMs).length, 2);
  assert.equal(pointsOf(rig, "gpu", 0).length, 180);
  assert.equal(pointsOf(rig, "gpu", endMs + 3_600_000).length, 180, "its clock was another one");
  assert.equal(rig.trends.view(endMs).endMs, endMs + 10_003);
});

test("holds 512 backends; what is over makes room", () => {
  const rig = new ControlRig();
  for (let index = 0; index < 600; index++) rig.trends.take(`b${index}`, NO_COUNTERS, NO_COUNTERS);
  assert.equal(rig.trends.view().backends.length, 512);
  rig.pass(1_000_000);
  rig.trends.take("new", NO_COUNTERS, NO_COUNTERS);
  assert.deepEqual(
    rig.trends.view().backends.map(({ name }) => name),
    ["new"],
  );
});

test("whatever the clock does, the points are those of a plain list", () => {
  const step = fc.record({ passMs: fc.integer({ min: -3_000, max: 400_000 }), permitted: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let now = 2_000_000;
      const trends = new Trends({ now: () => now, wallNow: () => now, gateways: () => [] });
      let index = 400;
      const expected = new Map<number, number>();
      for (const { passMs, permitted } of steps) {
        now += passMs;
        index = Math.max(index, Math.floor(now / 5_000));
        expected.set(index, (expected.get(index) ?? 0) + permitted);
        trends.take("gpu", { ...NO_COUNTERS, permitted }, NO_COUNTERS);
      }
      const points = trends.view().backends[0]?.points ?? [];
      for (const [place, point] of points.entries())
        assert.equal(point.permitted, expected.get(index - 180 + place) ?? 0);
    }),
  );
});

test("is asked for at /v1/trends", async () => {
  const rig = new ControlRig();
  try {
    const port = await rig.serve();
    rig.sync([report("gpu", counted({ permitted: 2 }))], NEW);
    rig.pass(5_000);
    const answer = await fetch(`http://127.0.0.1:${port}/v1/trends`);
    const told = (await answer.json()) as TrendsView;
    assert.deepEqual(
      [told.periodMs, told.backends[0]?.name, told.backends[0]?.points.length],
      [5000, "gpu", 180],
    );
    assert.equal(told.backends[0]?.points.at(-1)?.permitted, 2);
    const rest = await fetch(`http://127.0.0.1:${port}/v1/trends?after=${told.endMs}`);
    assert.deepEqual(((await rest.json()) as TrendsView).backends, [{ name: "gpu", points: [] }]);
    assert.equal((await fetch(`http://127.0.0.1:${port}/v1/trends?after=x`)).status, 400);
  } finally {
    rig.close();
  }
});
