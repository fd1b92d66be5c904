import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { turns } from "./crowd/schedule.js";
import type { Turn } from "./crowd/step.js";
import { describeTurn } from "./crowd/step.js";
import { Workers } from "./crowd/workers.js";
import { FilterCrowd } from "./filter/filter-crowd.js";

// More of them: LLM_BREAKER_MODEL_RUNS=1000000, of which a hundredth is run here.
const runs = Math.ceil(Number(process.env.LLM_BREAKER_MODEL_RUNS ?? 100_000) / 100);
const seed = Number(process.env.LLM_BREAKER_MODEL_SEED ?? 8);
const { layout } = new Workers();

const beginning: readonly Turn[] = (
  [
    ["arrive", 0],
    ["arrive", 0],
    ["fail", 0],
    ["fail", 0],
    ["wait", 15],
    ["tick", 0],
    ["answerProbe", 0],
  ] as const
).map(([kind, pick]) => ({ step: { kind, worker: 0, pick }, within: [], refusals: 0 }));

test(`the whole filter keeps the rules over ${runs} random interleavings of its callbacks`, () => {
  const seen = { nested: 0, answers: new Map<number, number>(), ways: new Map<string, number>() };
  const property = fc.property(
    fc.integer({ min: 2, max: 4 }),
    fc.boolean(),
    turns,
    (count, isInRamp, all) => {
      const crowd = new FilterCrowd(count, layout);
      for (const turn of [...(isInRamp ? beginning : []), ...all]) {
        crowd.run(turn);
        if (crowd.observer.fault) throw crowd.observer.fault;
      }
      crowd.rest();
      if (crowd.observer.fault) throw crowd.observer.fault;
      for (const [way, times] of crowd.observer.ways) seen.ways.set(way, (seen.ways.get(way) ?? 0) + times);
      for (const [status, times] of crowd.answers)
        seen.answers.set(status, (seen.answers.get(status) ?? 0) + times);
    },
  );
  const details = fc.check(property, { numRuns: runs, seed });
  if (details.failed) {
    const [count, isInRamp, all = []] = details.counterexample ?? [];
    assert.fail(
      [
        String(details.errorInstance),
        `seed ${seed}, path ${details.counterexamplePath}; ${count} workers, in the ramp: ${isInRamp}`,
        ...all.map(describeTurn),
      ].join("\n"),
    );
  }
  for (const way of ["Open → Probing: WAIT_OVER", "Ramp → Ramp: STAGE_PASSED", "Ramp → Open: CANARY_FAILED"])
    assert.ok((seen.ways.get(way) ?? 0) > 0, `${way} in ${JSON.stringify([...seen.ways])}`);
  const bare = [...seen.answers].filter(([status]) => ![200, 400, 429].includes(status));
  assert.deepEqual(bare, [], "a fallback is well, so nobody gets a bare failure");
});
