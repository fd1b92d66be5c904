import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { GatewayView, Share } from "../../../extproc/peers/message.js";
import { endedShares, grownShares, keptShares } from "../../../extproc/peers/shares.js";

function gateway(process: string, more: Partial<GatewayView> = {}): GatewayView {
  const flags = { isEvidence: false, isSilent: false, hasTraffic: true };
  return { process, state: "OPEN", stage: 0, track: 0, livePermits: 0, ...flags, ...more };
}
function groundOf(...views: GatewayView[]) {
  return { gateways: new Map(views.map((view) => [view.process, view])), isComplete: true };
}
const byName = (process: string): number => process.charCodeAt(0);
const ABC = groundOf(gateway("a"), gateway("b"), gateway("c"));

test("the cap is shared out one by one", () => {
  const countsOf = (cap: number) => grownShares([], cap, 9, ABC, byName).map(({ count }) => count);
  assert.deepEqual(countsOf(2), [1, 1]);
  assert.deepEqual(countsOf(3), [1, 1, 1]);
  assert.deepEqual(countsOf(7), [3, 2, 2]);
  assert.deepEqual(countsOf(0), []);
});

test("a cap that no policy has holds nobody up", () => {
  const shares = grownShares([], 0xffff_ffff, 9, ABC, byName);
  assert.equal(
    shares.reduce((sum, { count }) => sum + count, 0),
    256,
  );
});

test("gateways with traffic come first", () => {
  const ground = groundOf(gateway("a", { hasTraffic: false }), gateway("b"));
  assert.deepEqual(grownShares([], 2, 9, ground, byName), [{ process: "b", count: 2, endedBy: 0 }]);
});

test("canaries of others that are still in flight are taken off", () => {
  const ground = groundOf(gateway("a"), gateway("b", { state: "CLOSED", livePermits: 1 }));
  assert.deepEqual(grownShares([], 2, 9, ground, byName), [{ process: "a", count: 1, endedBy: 0 }]);
});

test("what was taken back counts until its owner is known to know", () => {
  const share = { process: "a", count: 2, endedBy: 0 };
  const [ended] = endedShares([share], 7, ABC);
  assert.deepEqual(ended, { ...share, endedBy: 7 });
  assert.ok(ended);
  assert.deepEqual(keptShares([ended], 9, groundOf(gateway("a", { track: 6 }))), [ended]);
  assert.deepEqual(keptShares([ended], 9, groundOf(gateway("a", { track: 7 }))), []);
  assert.deepEqual(grownShares([ended], 2, 9, ABC, byName), [ended]);
});

test("a silent owner loses its share, and it counts as long as it may go by it", () => {
  const share = { process: "a", count: 2, endedBy: 0 };
  const silent = groundOf(gateway("a", { isSilent: true, track: 99 }), gateway("b"));
  assert.deepEqual(keptShares([share], 7, silent), [{ ...share, endedBy: 7 }]);
  assert.deepEqual(keptShares([share], 7, groundOf(gateway("b"))), []);
  const young = { ...groundOf(gateway("b")), isComplete: false };
  assert.deepEqual(keptShares([share], 7, young), [{ ...share, endedBy: 7 }]);
});

test("all shares and all other canaries together never pass the cap by what is handed out", () => {
  const process = fc.constantFrom("a", "b", "c", "d", "e");
  const view = fc
    .record({
      process,
      state: fc.constantFrom("CLOSED" as const, "OPEN" as const, "HALF_OPEN" as const),
      track: fc.nat({ max: 20 }),
      isSilent: fc.boolean(),
      hasTraffic: fc.boolean(),
      livePermits: fc.nat({ max: 3 }),
    })
    .map(({ process: name, ...more }) => gateway(name, more));
  const share = fc.record({ process, count: fc.nat({ max: 4 }), endedBy: fc.nat({ max: 20 }) });
  const views = fc.uniqueArray(view, { selector: (each) => each.process });
  const shares = fc.uniqueArray(share, { selector: (each) => each.process });
  fc.assert(
    fc.property(views, shares, fc.nat({ max: 12 }), (known, before, cap) => {
      const ground = groundOf(...known);
      const inUse = (list: readonly Share[]) => {
        const counts = new Map<string, number>(known.map((each) => [each.process, each.livePermits]));
        for (const { process: name, count } of list) counts.set(name, Math.max(count, counts.get(name) ?? 0));
        return [...counts.values()].reduce((sum, each) => sum + each, 0);
      };
      const kept = keptShares(before, 21, ground);
      const grown = grownShares(kept, cap, 21, ground, byName);
      assert.ok(inUse(grown) <= Math.max(cap, inUse(kept)));
    }),
  );
});
