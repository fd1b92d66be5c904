import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Arrival } from "../../../demo/fleet/arrivals.js";
import type { CallRecord } from "../../../demo/load/caller.js";
import { phasesOf, spanAt } from "../../../demo/story/phases.js";
import { planStory } from "../../../demo/story/plan.js";
import { clockText, createScreen } from "../../../demo/story/screen.js";
import { leaksOf, mostAtOnce, summarize } from "../../../demo/story/summary.js";
import { percentile, renderTable } from "../../../demo/story/table.js";
import {
  type BreakerState,
  inOrder,
  parseTransition,
  type Transition,
} from "../../../demo/story/transitions.js";
import { judgeStory } from "../../../demo/story/verdict.js";

function transition(
  generation: number,
  atMs: number,
  from: BreakerState,
  to: BreakerState,
  cause: string,
): Transition {
  return { backend: "gpu", from, to, cause, generation, atMs };
}

/** Opens at 1000, a first probe at 6000 fails, a second at 16 000 passes, the ramp ends at 20 000. */
const STORY = [
  transition(2, 1000, "CLOSED", "OPEN", "ENGINE_FATAL"),
  transition(3, 6000, "OPEN", "HALF_OPEN", "WAIT_OVER"),
  transition(4, 6010, "HALF_OPEN", "OPEN", "PROBE_FAILED"),
  transition(5, 16_000, "OPEN", "HALF_OPEN", "WAIT_OVER"),
  transition(6, 16_100, "HALF_OPEN", "HALF_OPEN", "PROBE_SUCCEEDED"),
  transition(7, 18_000, "HALF_OPEN", "HALF_OPEN", "STAGE_PASSED"),
  transition(8, 20_000, "HALF_OPEN", "CLOSED", "RAMP_COMPLETE"),
];

function arrival(atMs: number, endMs: number, extra: Partial<Arrival> = {}): Arrival {
  return {
    ...{ id: 0, backend: "gpu", atMs, wallMs: 0, path: "/v1/chat/completions", user: "", streamed: true },
    ...{
      promptTokens: 40,
      maxTokens: 16,
      probe: false,
      outcome: "complete",
      status: 200,
      concurrency: 1,
      endMs,
    },
    ...extra,
  };
}

function record(startMs: number, verdict: CallRecord["verdict"], backend: string): CallRecord {
  const fixed = { id: "call-1", streamed: true, long: false, status: 200, attempts: 1, detail: "" };
  return { ...fixed, startMs, endMs: startMs + 100, firstTokenMs: startMs + 50, verdict, backend };
}

describe("transitions in Envoy's log", () => {
  const json =
    '{"backend":"gpu","from":"CLOSED","to":"OPEN","cause":"ENGINE_FATAL","generation":3,"atMs":123456}';

  test("are read from a line with Envoy's prefix and suffix", () => {
    const line = `[2026-11-30 01:00:00.000][12][warning][wasm] wasm log meter: llm.breaker transition ${json} `;
    assert.deepEqual(parseTransition(line), JSON.parse(json));
  });

  test("are not made up from other or broken lines", () => {
    assert.equal(parseTransition("[info] all clusters initialized"), undefined);
    assert.equal(parseTransition("llm.breaker transition {broken"), undefined);
    assert.equal(parseTransition(`llm.breaker transition ${json.replace("OPEN", "AJAR")}`), undefined);
    assert.equal(parseTransition(`llm.breaker transition ${json.replace("123456", '"soon"')}`), undefined);
  });

  test("are put in the order of their generation, since workers log on their own", () => {
    assert.deepEqual(inOrder([...STORY].reverse()), STORY);
  });
});

describe("phases", () => {
  test("follow the transitions and tell the probe from the ramp", () => {
    const spans = phasesOf(STORY);
    assert.deepEqual(
      spans.map(({ phase, startMs, opening }) => [phase, startMs, opening]),
      [
        ["closed", Number.NEGATIVE_INFINITY, 0],
        ["open", 1000, 1],
        ["probing", 6000, 1],
        ["open", 6010, 2],
        ["probing", 16_000, 2],
        ["ramp", 16_100, 2],
        ["closed", 20_000, 2],
      ],
    );
    assert.equal(spanAt(spans, 999).phase, "closed");
    assert.equal(spanAt(spans, 1000).phase, "open");
    assert.equal(spanAt(spans, 1e9).phase, "closed");
  });

  test("an abandoned probe goes back to the same opening", () => {
    const spans = phasesOf([
      ...STORY.slice(0, 2),
      transition(4, 6500, "HALF_OPEN", "OPEN", "PROBE_ABANDONED"),
    ]);
    assert.deepEqual([spans.at(-1)?.phase, spans.at(-1)?.opening], ["open", 1]);
  });

  test("without a transition there is one closed span", () => {
    assert.deepEqual(
      phasesOf([]).map(({ phase }) => phase),
      ["closed"],
    );
  });
});

describe("the summary", () => {
  const arrivals = [
    arrival(500, 1500),
    arrival(1049, 1060),
    arrival(6001, 6009, { probe: true, outcome: "error" }),
    arrival(16_001, 16_099, { probe: true }),
    arrival(16_200, 16_900, { promptTokens: 70 }),
    arrival(16_300, 17_000, { promptTokens: 201 }),
    arrival(17_000, 17_500, { promptTokens: 12 }),
    arrival(20_001, 20_500, { promptTokens: 5000 }),
  ];
  const evidence = {
    records: [
      record(500, "ok", "gpu"),
      record(2000, "ok", "small"),
      record(3000, "ok", "public"),
      record(1010, "brokenStream", "gpu"),
      record(1020, "jsonError", ""),
    ],
    primary: "gpu",
    primaryArrivals: arrivals,
    transitions: STORY,
    spans: phasesOf(STORY),
    faultStartMs: 900.4,
    faultEndMs: 15_000.2,
  };

  test("counts callers, openings, probes and canaries", () => {
    assert.deepEqual(summarize(evidence), {
      requests: 5,
      ok: 3,
      bareFailures: 0,
      brokenStreams: 1,
      jsonErrors: 1,
      opened: 2,
      closed: 1,
      servedByFallback: 2,
      canaries: 3,
      canaryMaxPromptTokens: 201,
      maxCanariesAtOnce: 2,
      probes: 2,
      maxProbesPerOpening: 1,
      primaryHitsWhileOpen: 0,
      timeToOpenMs: 100,
      timeToRecoverMs: 5000,
      perTier: { gpu: 1, small: 1, public: 1 },
    });
  });

  test("a user request at the primary while open or probing is a leak, after 50 ms of grace at the opening", () => {
    const { spans } = evidence;
    const moments = [999, 1049.9, 1050, 5999, 6005, 6059, 6061, 16_050, 16_100, 19_999, 20_000];
    const arrivals = moments.map((moment) => arrival(moment, moment + 1));
    const leaks = leaksOf(spans, arrivals, []).map(({ atMs }) => atMs);
    assert.deepEqual(leaks, [1050, 5999, 6005, 6061, 16_050]);
    const leaking = { ...evidence, primaryArrivals: [...evidence.primaryArrivals, arrival(3000, 3100)] };
    assert.equal(summarize(leaking).primaryHitsWhileOpen, 1);
  });

  test("a first attempt that set out before the opening is no leak when it arrives late; a retry is", () => {
    const { spans } = evidence;
    const leaks = (startMs: number, ...arrivals: Arrival[]): number =>
      leaksOf(spans, arrivals, [{ id: "call-1", startMs }]).length;
    const at = (atMs: number): Arrival => arrival(atMs, atMs + 1, { user: "call-1" });
    assert.equal(leaks(1040, at(1130)), 0);
    assert.equal(leaks(1051, at(1130)), 1);
    assert.equal(leaks(1040, at(2000)), 1);
    assert.equal(leaks(900, at(910), at(1130)), 1);
    assert.equal(leaks(15_990, at(16_001)), 1);
  });

  test("a probe that fails within its millisecond belongs to the opening that it ended", () => {
    const quick = STORY.map((it) => (it.generation === 4 ? { ...it, atMs: 6000 } : it));
    const probes = (...moments: number[]): number => {
      const primaryArrivals = moments.map((moment) => arrival(moment, moment + 0.1, { probe: true }));
      return summarize({ ...evidence, transitions: quick, spans: phasesOf(quick), primaryArrivals })
        .maxProbesPerOpening;
    };
    assert.equal(probes(6000.7, 16_000.9), 1);
    assert.equal(probes(6000.7, 6000.8, 16_000.9), 2);
  });

  test("an opening before the fault is not the fault's", () => {
    assert.equal(summarize({ ...evidence, faultStartMs: 5000 }).timeToOpenMs, 1010);
  });

  test("times that never came are -1", () => {
    const never = summarize({ ...evidence, transitions: [], spans: phasesOf([]) });
    assert.equal(never.timeToOpenMs, -1);
    assert.equal(never.timeToRecoverMs, -1);
    assert.equal(summarize({ ...evidence, faultEndMs: 30_000 }).timeToRecoverMs, -1);
  });

  test("requests count as at once only while both run; an end and a start at the same moment do not overlap", () => {
    assert.equal(mostAtOnce([]), 0);
    assert.equal(mostAtOnce([arrival(1, 5), arrival(5, 9)]), 1);
    assert.equal(mostAtOnce([arrival(1, 5), arrival(4, 9), arrival(4.5, 0)]), 3);
  });

  test("an honest story keeps every promise, and each lie breaks one", () => {
    const summary = summarize(evidence);
    const broken = (change: Partial<typeof summary>, envoy = 8, leakedCredentials = 0): string[] =>
      judgeStory({
        summary: { ...summary, ...change },
        clusters: [{ cluster: "gpu", envoy, fleet: 8 }],
        leakedCredentials,
        canaryLimitTokens: 256,
        canaryLimitAtOnce: 2,
      })
        .filter(({ kept }) => !kept)
        .map(({ promise }) => promise);
    assert.deepEqual(broken({}), []);
    assert.equal(broken({ bareFailures: 1 }).length, 1);
    assert.equal(broken({ opened: 0, maxProbesPerOpening: 0 }).length, 1);
    assert.equal(broken({ timeToRecoverMs: -1 }).length, 1);
    assert.equal(broken({ servedByFallback: 0 }).length, 1);
    assert.equal(broken({ primaryHitsWhileOpen: 1 }).length, 1);
    assert.equal(broken({ maxProbesPerOpening: 2 }).length, 1);
    assert.equal(broken({ canaryMaxPromptTokens: 257 }).length, 1);
    assert.equal(broken({ maxCanariesAtOnce: 3 }).length, 1);
    assert.equal(broken({}, 9).length, 1);
    assert.equal(broken({}, 8, 1).length, 1);
  });
});

describe("the plan", () => {
  test("the seed moves the fault, and stays within about 90 s before the recovery", () => {
    const moments = [1, 2, 3].map((seed) => planStory({ seed, real: undefined, quick: false }).healthyMs);
    assert.equal(new Set(moments).size, 3);
    for (const moment of moments) assert.ok(moment >= 9000 && moment <= 15_000, `${moment}`);
  });
});

describe("the screen and the table", () => {
  test("no colour and no live line where there is no terminal", () => {
    let written = "";
    const screen = createScreen((text) => (written += text), false);
    screen.live("counts");
    screen.event("OPEN", "gpu", "red");
    assert.match(written, /^00:00\.0 {2}OPEN {7}gpu\n$/);
  });

  test("an event is printed above the live line of a terminal", () => {
    let written = "";
    const screen = createScreen((text) => (written += text), true);
    screen.live("counts");
    screen.event("OPEN", "gpu", "red");
    assert.ok(written.endsWith("\u001b[2mcounts\u001b[0m"));
    assert.ok(written.includes("\r\u001b[2K00:00.0"));
  });

  test("columns line up, and percentiles of nothing are 0", () => {
    assert.equal(
      renderTable([
        ["a", "bb"],
        ["ccc", 1],
      ]),
      "a    bb\nccc   1",
    );
    assert.equal(percentile([], 50), 0);
    assert.equal(percentile([5, 1, 3], 50), 3);
    assert.equal(clockText(62_345), "01:02.3");
  });
});
