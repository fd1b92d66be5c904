import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { Checked } from "./crowd/check-schedules.js";
import { checkInThreads } from "./crowd/in-threads.js";
import { readDiagram } from "./diagram.js";

// More of them: LLM_BREAKER_MODEL_RUNS=5000000; others: LLM_BREAKER_MODEL_SEED=9.
const runs = whole("LLM_BREAKER_MODEL_RUNS", 100_000);
const seed = whole("LLM_BREAKER_MODEL_SEED", 8);

function whole(name: string, otherwise: number): number {
  const text = process.env[name];
  if (text === undefined) return otherwise;
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new Error(`${name} must be a whole number above 0, got "${text}"`);
}

/** What no schedule does: triggers that the model's policy has off, and the start of a process after another. */
const unseen = /FAILURE_COUNT|CONSECUTIVE_SLOW_CALLS|LATENCY_DRIFT|COST_RATE|RESTORED/;

describe(`${runs} random interleavings of workers on one record`, () => {
  let checked: Checked[];

  before(async () => {
    checked = await checkInThreads(runs, seed);
  });

  const sum = (of: (each: Checked["coverage"]) => number): number =>
    checked.reduce((total, { coverage }) => total + of(coverage), 0);

  test("every rule holds after every write, and the record is what the model says", () => {
    for (const { failure } of checked) assert.equal(failure, undefined, failure?.report);
    assert.ok(sum((each) => each.runs) >= runs);
  });

  test("workers got in each other's way, lost races, and gave up", () => {
    assert.ok(sum((each) => each.nested) > runs);
    assert.ok(sum((each) => each.races) > runs);
    assert.ok(sum((each) => each.givenUp) > runs / 100);
  });

  test("successes were filed in batches", () => {
    assert.ok(sum((each) => each.batches) > runs / 10);
  });

  test("every way of the state diagram was gone", () => {
    const expected = [...readDiagram()].filter((way) => !unseen.test(way));
    const untrodden = expected.filter((way) => sum(({ ways }) => ways.get(way) ?? 0) === 0);
    assert.deepEqual(untrodden, []);
    assert.ok(expected.length > 25, `${expected.length} ways`);
  });
});
