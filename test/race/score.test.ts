import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { onlyGiven } from "../../bench/race/given.js";
import type { Lap } from "../../bench/race/lap.js";
import type { CallerRecord } from "../../bench/race/patient-caller.js";
import type { Scenario } from "../../bench/race/scenario.js";
import { planCalls } from "../../bench/race/schedule.js";
import { type Score, score } from "../../bench/race/score.js";
import { sectionOf } from "../../bench/race/section.js";
import { boundOf, judged, winnerOver } from "../../bench/race/targets.js";
import { type Arrival, ArrivalLog } from "../../demo/fleet/arrivals.js";

const startMs = 1_000_000;
const limits = { objectiveMs: 250, firstTokenMs: 2000, answerMs: 4000 };

const scenario: Scenario = {
  ...{ name: "made-up", title: "Made up", what: "", seconds: 20, nodes: 1, sick: [0], steps: [] },
  fault: [4, 10],
  recovering: [8, 10],
  callers: { perSecond: 10, patienceMs: 10_000, retries: 0, limits },
};

type By = "primary" | "fallback" | "nobody";

/** Ten callers a second, each in a tenth of its own; `by` tells who serves the caller of that moment. */
function lapOf(
  by: (at: number) => By,
  hitsPrimary: (at: number) => boolean = (at) => by(at) === "primary",
): Lap {
  const callers: CallerRecord[] = [];
  const primary = new ArrivalLog();
  const fallback = new ArrivalLog();
  const arrive = (log: ArrivalLog, id: string, atMs: number, complete: boolean): void => {
    const arrival = log.open("", "", atMs, 0);
    arrival.user = id;
    log.close(arrival, complete ? "complete" : "error", complete ? 200 : 500, atMs + 1);
  };
  for (let tenth = 0; tenth < scenario.seconds * 10; tenth++) {
    const at = tenth / 10;
    const atMs = startMs + at * 1000 + 50;
    const id = `call-${tenth}`;
    const served = by(at) !== "nobody";
    if (hitsPrimary(at)) arrive(primary, id, atMs, by(at) === "primary");
    if (by(at) === "fallback") arrive(fallback, id, atMs, true);
    const firstTokenMs = served ? atMs + 100 + tenth : 0;
    callers.push({
      id,
      streamed: true,
      startMs: atMs,
      endMs: atMs + 300,
      firstTokenMs,
      served,
      tries: 1,
      detail: "",
    });
  }
  return { racer: "made-up", startMs, callers, seen: { nodes: [primary.list()], fallback: fallback.list() } };
}

const inFault = (at: number): boolean => at >= 4 && at < 10;

describe("a score", () => {
  test("of a racer that never leaves the sick backend alone", () => {
    const told = score(
      scenario,
      lapOf(
        (at) => (inFault(at) ? "nobody" : "primary"),
        () => true,
      ),
    );
    assert.equal(told.bareFailures, 60);
    assert.equal(told.served, 140);
    assert.equal(told.sickHits, 60);
    assert.equal(told.wastedHits, 60);
    assert.equal(told.secondsToOpen, undefined);
    assert.equal(told.secondsToFull, 0);
    assert.equal(told.fallbackPercent, 0);
    assert.equal(told.ttftP50Ms, undefined, "nobody was served during the fault");
  });

  test("of one that opens after half a second and is back two seconds after the fault", () => {
    const diverts = (at: number): boolean => at >= 4.5 && at < 12;
    const told = score(
      scenario,
      lapOf(
        (at) => (diverts(at) ? "fallback" : at >= 4 && at < 4.5 ? "nobody" : "primary"),
        (at) => !diverts(at),
      ),
    );
    assert.equal(told.bareFailures, 5);
    assert.equal(told.secondsToOpen, 0.5);
    assert.ok(told.secondsToFull !== undefined && told.secondsToFull >= 1.7 && told.secondsToFull <= 2);
    assert.equal(told.fallbackPercent, 37.5);
    assert.ok(told.ttftP50Ms !== undefined && told.ttftP50Ms > 145 && told.ttftP50Ms < 200);
  });

  test("calls no service full that does not last, and none that comes too late", () => {
    const relapses = score(
      scenario,
      lapOf((at) => (at >= 11 && at < 15 ? "fallback" : "primary")),
    );
    assert.ok((relapses.secondsToFull ?? 0) >= 4.7, String(relapses.secondsToFull));
    assert.equal(
      score(
        scenario,
        lapOf((at) => (at >= 4 ? "fallback" : "primary")),
      ).secondsToFull,
      undefined,
    );
  });

  test("counts no answer that no engine gave to its end: a racer may make one up, or cut one short", () => {
    const lap = lapOf((at) => (inFault(at) ? "fallback" : "primary"));
    const [first, ...fallback] = lap.seen.fallback;
    const cut = { ...(first as Arrival), outcome: "clientLeft" } as const;
    assert.equal(onlyGiven(lap.callers, lap.seen).filter(({ served }) => !served).length, 0);
    const shortened = onlyGiven(lap.callers, { ...lap.seen, fallback: [cut, ...fallback] });
    assert.deepEqual(
      shortened.filter(({ served }) => !served).map(({ id, firstTokenMs }) => [id, firstTokenMs]),
      [["call-40", 0]],
    );
    const invented = { ...lap.seen, fallback: [] };
    const told = score(scenario, { ...lap, callers: onlyGiven(lap.callers, invented), seen: invented });
    assert.equal(told.bareFailures, 60);
    assert.equal(told.ttftP50Ms, undefined);
  });

  test("leaves out what came before the start, and knows the most at once while it recovers", () => {
    const lap = lapOf(() => "primary");
    const node: Arrival[] = [...(lap.seen.nodes[0] ?? [])];
    const early = { ...(node[0] as Arrival), atMs: startMs - 10 };
    const crowd = { ...(node[0] as Arrival), atMs: startMs + 9000, concurrency: 7 };
    const told = score(scenario, { ...lap, seen: { ...lap.seen, nodes: [[early, ...node, crowd]] } });
    assert.equal(told.sickHits, 61);
    assert.equal(told.wastedHits, 0, "a hit that serves its caller is none");
    assert.equal(told.peakRecovering, 7);
  });

  test("opens a node of four when that gets less than a tenth of a quarter", () => {
    const four = { ...scenario, nodes: 4 };
    const rare = lapOf(
      () => "primary",
      (at) => Math.round(at * 10) % 40 === 0,
    );
    const usual = lapOf(
      () => "primary",
      (at) => Math.round(at * 10) % 4 === 0,
    );
    assert.ok((score(four, rare).secondsToOpen ?? Number.NaN) <= 0.2);
    assert.equal(score(four, usual).secondsToOpen, undefined);
  });
});

describe("a verdict", () => {
  const ours = {
    ...score(
      scenario,
      lapOf(() => "primary"),
    ),
    racer: "llm-breaker",
    sickHits: 5,
  };
  const peer = (racer: string, more: Partial<Score>): Score => ({ ...ours, racer, ...more });
  const of = (key: string) => judged.find((each) => each.key === key) ?? assert.fail(key);

  test("asks for no bare failure, and for the fewest hits on the sick", () => {
    const scores = [ours, peer("envoy", { sickHits: 4 }), peer("nothing", { sickHits: 0 })];
    assert.equal(boundOf("bareFailures", scenario, scores)?.most, 0);
    assert.equal(boundOf("sickHits", scenario, scores)?.most, 4);
    assert.equal(boundOf("secondsToFull", scenario, scores)?.most, 15);
    assert.equal(boundOf("ttftP50Ms", scenario, scores), undefined);
    assert.equal(winnerOver(ours, of("sickHits"), scores)?.racer, "envoy");
  });

  test("asks for no more hits than plain Envoy's where one node of several is sick", () => {
    const scores = [ours, peer("envoy", { sickHits: 9 }), peer("other", { sickHits: 1 })];
    assert.equal(boundOf("sickHits", { ...scenario, nodes: 4 }, scores)?.most, 9);
  });

  test("tells of a target that is missed though no other did better, and of whom it was not raced against", () => {
    const us = { ...ours, bareFailures: 3 };
    const heats = [{ scenario, laps: [], scores: [us, peer("envoy", { bareFailures: 9, sickHits: 9 })] }];
    assert.deepEqual(sectionOf(heats, [], ["portkey: no network"]).behind, [
      "Made up, bare failures: 3 callers, not 0.",
      "Not raced against portkey: no network.",
    ]);
  });

  test("tells of a primary that was never gone back to", () => {
    const us = { ...ours, secondsToFull: undefined };
    const heats = [
      { scenario, laps: [], scores: [us, peer("envoy", { secondsToFull: undefined, sickHits: 9 })] },
    ];
    assert.deepEqual(sectionOf(heats, [], []).behind, [
      "Made up, from the fault's end until full service: never, not at most 15.",
    ]);
    const row = sectionOf(heats, [], []).rows.find(({ what }) => what.includes("full service"));
    assert.deepEqual([row?.figure.median, row?.unit, row?.target?.met], [10, "s or more", false]);
  });

  test("has no winner among those who dropped callers, but in what they dropped", () => {
    const quick = peer("other", { bareFailures: 3, secondsToFull: 0, ttftP99Ms: 1 });
    const slow = { ...ours, secondsToFull: undefined, ttftP99Ms: 9000 };
    assert.equal(winnerOver(slow, of("ttftP99Ms"), [slow, quick]), undefined);
    assert.equal(
      winnerOver(slow, of("secondsToFull"), [slow, { ...quick, bareFailures: 0 }])?.racer,
      "other",
    );
    assert.equal(winnerOver({ ...ours, bareFailures: 4 }, of("bareFailures"), [quick])?.racer, "other");
  });
});

test("the same seed gives every racer the same callers, and a rush is as large as it says", () => {
  const callers = { ...scenario.callers, rush: { span: [5, 10], perSecond: 100 } as const };
  const planned = planCalls(callers, 20, 7);
  assert.deepEqual(planned, planCalls(callers, 20, 7));
  const rush = planned.filter(({ atMs }) => atMs >= 5000 && atMs < 10_000).length;
  assert.ok(rush > 420 && rush < 580, String(rush));
  const calm = planned.length - rush;
  assert.ok(calm > 100 && calm < 210, String(calm));
});
