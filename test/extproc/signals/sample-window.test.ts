import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SampleWindow } from "../../../extproc/signals/sample-window.js";

function windowOf(samples: readonly (readonly [atMs: number, use?: number])[]): SampleWindow {
  const window = new SampleWindow();
  for (const [atMs, kvCacheUse] of samples) window.add(atMs, { kvCacheUse, waiting: undefined });
  return window;
}

test("tells the worst sample of the last 5 s, the one that is just 5 s old too", () => {
  const window = windowOf([
    [1_000, 0.9],
    [2_000, 0.4],
    [3_000, 0.5],
  ]);
  assert.equal(window.kvCacheUse(6_000), 0.9);
  assert.equal(window.kvCacheUse(6_001), 0.5);
  assert.equal(window.kvCacheUse(8_001), undefined);
});

test("is whole from a sample at its beginning on, without a hole of more than 2.5 s", () => {
  const steady = [0, 1, 2, 3, 4, 5].map((second) => [second * 1_000, 0.1] as const);
  assert.equal(windowOf(steady.slice(0, 5)).isWhole(4_999), false);
  assert.equal(windowOf(steady).isWhole(5_000), true);
  assert.equal(windowOf(steady).isWhole(7_500), true);
  assert.equal(windowOf(steady).isWhole(7_501), false);
  const holed = steady.filter(([atMs]) => atMs !== 2_000 && atMs !== 3_000);
  assert.equal(windowOf(holed).isWhole(5_000), false);
  assert.equal(windowOf(steady.filter(([atMs]) => atMs !== 2_000)).isWhole(5_000), true);
  assert.equal(windowOf([]).isWhole(5_000), false);
});

test("pages without a use are fresh, and are no samples", () => {
  const window = windowOf([0, 1, 2, 3, 4, 5].map((second) => [second * 1_000, second < 3 ? 0.2 : undefined]));
  assert.equal(window.isFresh(10_000), true);
  assert.equal(window.isFresh(10_001), false);
  assert.equal(window.isWhole(5_000), false);
  assert.equal(window.kvCacheUse(7_001), undefined);
});

test("the latest number of waiting requests holds for 5 s", () => {
  const window = new SampleWindow();
  window.add(0, { kvCacheUse: undefined, waiting: 9 });
  window.add(1_000, { kvCacheUse: undefined, waiting: 2 });
  window.add(2_000, { kvCacheUse: undefined, waiting: undefined });
  assert.equal(window.waiting(6_000), 2);
  assert.equal(window.waiting(6_001), undefined);
});

test("agrees with a window that forgets nothing", () => {
  const step = fc.tuple(fc.nat(3_000), fc.option(fc.nat(100), { nil: undefined }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.nat(6_000), (steps, laterMs) => {
      const window = new SampleWindow();
      const all: [number, number][] = [];
      let now = 0;
      for (const [gap, use] of steps) {
        now += gap;
        window.add(now, { kvCacheUse: use, waiting: undefined });
        if (use !== undefined) all.push([now, use]);
      }
      now += laterMs;
      const recent = all.filter(([atMs]) => atMs >= now - 5_000).map(([, use]) => use);
      assert.equal(window.kvCacheUse(now), recent.length === 0 ? undefined : Math.max(...recent));
      const before = all.filter(([atMs]) => atMs <= now - 5_000).at(-1);
      const times = [
        before?.[0] ?? -1e9,
        ...all.map(([atMs]) => atMs).filter((atMs) => atMs > now - 5_000),
        now,
      ];
      const holes = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
      assert.equal(
        window.isWhole(now),
        holes.every((hole) => hole <= 2_500),
      );
    }),
  );
});
