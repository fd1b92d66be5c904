import assert from "node:assert/strict";
import { test } from "node:test";
import { runScenario } from "../../bench/race/race.js";
import { envoy } from "../../bench/race/racers/envoy.js";
import { ours } from "../../bench/race/racers/ours.js";
import type { Scenario } from "../../bench/race/scenario.js";

/** A short one with limits that a busy machine keeps. */
const scenario: Scenario = {
  name: "smoke",
  title: "Errors inside a 200, for two seconds",
  what: "",
  seconds: 5,
  nodes: 1,
  sick: [0],
  steps: [
    { at: 1, node: 0, fault: { kind: "errorInStream", inOnePiece: true } },
    { at: 3, node: 0 },
  ],
  fault: [1, 3],
  recovering: [3, 5],
  callers: {
    perSecond: 12,
    patienceMs: 30_000,
    retries: 0,
    limits: { objectiveMs: 5000, firstTokenMs: 12_000, answerMs: 15_000 },
  },
};

test("ours serves every caller through an outage that plain Envoy does not see, and leaves the sick alone", async () => {
  const { scores, laps } = await runScenario(scenario, [ours, envoy], "build");
  const [us, them] = scores;
  assert.ok(us && them && us.callers > 30 && us.callers === them.callers, JSON.stringify(scores));
  const details = laps[0]?.callers.filter(({ served }) => !served).map(({ detail }) => detail);
  assert.deepEqual(details, []);
  assert.ok(them.bareFailures > 10, JSON.stringify(them));
  assert.ok(us.sickHits < them.sickHits, JSON.stringify(scores));
  assert.ok(us.fallbackPercent > 0);
});
