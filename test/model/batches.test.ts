import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Crowd } from "./crowd/crowd.js";
import type { StepKind } from "./crowd/step.js";
import { Workers } from "./crowd/workers.js";

const workers = new Workers();

type Played = readonly [kind: StepKind, worker: number, pick?: number];

function play(...steps: readonly Played[]): Crowd {
  const crowd = workers.crowd(2);
  for (const [kind, worker, pick = 0] of steps)
    crowd.run({ step: { kind, worker, pick }, within: [], refusals: 0 });
  assert.equal(crowd.observer.fault, undefined, crowd.observer.fault?.message);
  return crowd;
}

const recordOf = ({ observer, store }: Crowd) => observer.read(store);
/** The first success is filed at once: nobody has told yet that all is calm. */
const calm: readonly Played[] = [
  ["arrive", 0],
  ["succeed", 0],
];
const success = calm;
/** The pick of an operator's word for Closed. */
const reset = 10;

describe("successes that a VM has gathered", () => {
  test("are filed by its tick, once", () => {
    const gathered = [...calm, ...success, ...success];
    assert.equal(recordOf(play(...gathered)).totals.calls, 1);
    assert.equal(recordOf(play(...gathered, ["tick", 0], ["tick", 0])).totals.calls, 3);
  });

  test("die with it", () => {
    const crowd = play(...calm, ...success, ["restart", 0], ["tick", 0]);
    assert.equal(recordOf(crowd).totals.calls, 1);
  });

  test("end no failures in a row that came after them, whoever files them", () => {
    const crowd = play(
      ["arrive", 0],
      ["word", 0, reset],
      ["arrive", 0],
      ["succeed", 0, 1],
      ["arrive", 1],
      ["fail", 1],
      // Of the generation before: what was gathered of this one is filed first.
      ["succeed", 0],
    );
    const { totals, consecutiveFailures } = recordOf(crowd);
    assert.deepEqual([totals.calls, totals.failures, consecutiveFailures], [2, 1, 1]);
  });
});
