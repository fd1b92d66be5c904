import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SlidingWindow } from "../../../extproc/limits/sliding-window.js";
import { secondsInto, slotOf, slotWidth } from "../../../extproc/limits/slots.js";

const WINDOW_SECONDS = 60;
const WIDTH_MS = slotWidth(WINDOW_SECONDS);
const ask = (window: SlidingWindow, points: number, limit: number, now: number) =>
  window.ask(points, WINDOW_SECONDS, limit, now);

test("gives up to the limit, and not one point more", () => {
  const window = new SlidingWindow(WIDTH_MS);
  assert.equal(ask(window, 60, 100, 0).isGranted, true);
  assert.equal(ask(window, 41, 100, 1).isGranted, false);
  assert.equal(ask(window, 40, 100, 2).isGranted, true);
  assert.equal(ask(window, 1, 100, 3).isGranted, false);
});

test("points count for the whole window and at most a twelfth more", () => {
  const window = new SlidingWindow(WIDTH_MS);
  ask(window, 100, 100, 1);
  assert.equal(ask(window, 1, 100, 60_001).isGranted, false);
  assert.equal(ask(window, 1, 100, 65_000).isGranted, true);
});

test("a refusal says when as much would fit, and takes nothing", () => {
  const window = new SlidingWindow(WIDTH_MS);
  ask(window, 30, 100, 1000);
  ask(window, 60, 100, 21_000);
  const small = ask(window, 40, 100, 30_000);
  assert.deepEqual(small, { isGranted: false, total: 90, waitMs: 35_000 });
  const large = ask(window, 100, 100, 30_000);
  assert.deepEqual(large, { isGranted: false, total: 90, waitMs: 55_000 });
  assert.equal(ask(window, 40, 100, 30_000 + small.waitMs).isGranted, true);
});

test("what is taken back is taken from the slot it was in, and no more than that holds", () => {
  const window = new SlidingWindow(WIDTH_MS);
  const { waitMs } = ask(window, 50, 100, 1000);
  ask(window, 20, 100, 20_000);
  const now = 40_000;
  const seconds = secondsInto(1000 + waitMs, now, WIDTH_MS);
  assert.equal(window.tell(-30, seconds, now), 40);
  assert.equal(window.tell(-999, seconds, now), 20);
});

test("what is told counts beyond the limit", () => {
  const window = new SlidingWindow(WIDTH_MS);
  assert.equal(window.tell(500, 59, 0), 500);
  assert.equal(ask(window, 1, 100, 1).isGranted, false);
});

test("a clock that steps back frees nothing", () => {
  const window = new SlidingWindow(WIDTH_MS);
  ask(window, 100, 100, 500_000);
  assert.equal(ask(window, 1, 100, 400_000).isGranted, false);
});

test("after a long pause everything has left", () => {
  const window = new SlidingWindow(WIDTH_MS);
  ask(window, 100, 100, 0);
  assert.equal(window.total(3_600_000), 0);
});

test("the middle of a slot is hit with rounding and another clock", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1e13 }),
      fc.integer({ min: 0, max: 55_000 }),
      fc.integer({ min: -1500, max: 1500 }),
      (takenAt, later, skewMs) => {
        const slot = slotOf(takenAt, WINDOW_SECONDS, WIDTH_MS);
        const now = takenAt + later;
        const seconds = secondsInto(slot * WIDTH_MS, now, WIDTH_MS);
        assert.equal(slotOf(now + skewMs, seconds, WIDTH_MS), slot);
      },
    ),
  );
});

test("no span of a window's length holds more than the limit, whatever is asked and taken back", () => {
  const step = fc.record({
    pauseMs: fc.integer({ min: 0, max: 20_000 }),
    points: fc.integer({ min: 1, max: 60 }),
    takesBack: fc.option(fc.integer({ min: 0, max: 80 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const window = new SlidingWindow(WIDTH_MS);
      const granted: { atMs: number; points: number; leavesAtMs: number }[] = [];
      let now = 1_700_000_000_000;
      for (const { pauseMs, points, takesBack } of steps) {
        now += pauseMs;
        const { isGranted, waitMs } = ask(window, points, 100, now);
        if (isGranted) granted.push({ atMs: now, points, leavesAtMs: now + waitMs });
        const last = granted.at(-1);
        if (takesBack === undefined || last === undefined) continue;
        const back = Math.min(takesBack, last.points);
        const seconds = secondsInto(last.leavesAtMs, now, WIDTH_MS);
        if (seconds > 0) {
          window.tell(-back, seconds, now);
          last.points -= back;
        }
      }
      for (const { atMs } of granted) {
        const within = granted.filter(
          (each) => each.atMs >= atMs && each.atMs < atMs + WINDOW_SECONDS * 1000,
        );
        assert.ok(within.reduce((sum, each) => sum + each.points, 0) <= 100);
      }
    }),
  );
});
