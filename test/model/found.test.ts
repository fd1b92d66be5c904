import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { StepKind, Turn } from "./crowd/step.js";
import { Workers } from "./crowd/workers.js";
import { FilterCrowd } from "./filter/filter-crowd.js";

const { layout } = new Workers();

const turn = (kind: StepKind, worker: number, pick = 0): Turn => {
  return { step: { kind, worker, pick }, within: [], refusals: 0 };
};

describe("schedules that once broke a rule", () => {
  test("a success that is filed by an old tick's time turns no clock back: the process was stopped for 12 s", () => {
    const crowd = new FilterCrowd(2, layout);
    // The first worker's request; then the second worker's, which fails before the first has ticked again.
    for (const each of [turn("arrive", 0), turn("wait", 0, 7), turn("arrive", 1), turn("fail", 1)])
      crowd.run(each);
    crowd.run(turn("succeed", 0));
    crowd.rest();
    assert.equal(crowd.observer.fault, undefined, crowd.observer.fault?.message);
    assert.equal(crowd.answers.get(200), 2);
  });
});
