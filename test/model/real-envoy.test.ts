import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { balanceExactly, isProbe, noTrigger, type Rig, startRig } from "../e2e/support/rig.js";
import { type Answer, chat } from "../support/client.js";
import type { Arrival } from "../support/upstream.js";
import type { Mode } from "../support/upstream-mode.js";
import { waitFor } from "../support/wait-for.js";
import { settings as modelSettings, type Settings } from "./policy.js";
import { faultsOfArrivals } from "./trace/arrivals.js";
import { faultsOfTransitions } from "./trace/replay.js";
import { readTransitions, type Trace } from "./trace/trace.js";

const settings: Settings = {
  ...modelSettings,
  streak: 3,
  waitMs: 700,
  maxWaitMs: 1_400,
  backoffResetMs: 60_000,
  permitTimeoutMs: 30_000,
  stages: [
    { percent: 100, maxConcurrent: 2, successes: 3 },
    { percent: 100, maxConcurrent: 3, successes: 4 },
  ],
};
const callers = 8;
const sick: Mode = { kind: "status", status: 500 };
const well: Mode = { kind: "ok", delayMs: 30 };
/** From `performance.now()` to the machine's monotonic clock, by which Envoy tells its times. */
const clockOffsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

let rig: Rig;
let trace: Trace;
const answers: Answer[] = [];

const seen = () => readTransitions(rig.envoy.log.matching(/llm\.breaker transition \{/), "gpu");

const closings = () => seen().filter(({ to }) => to === "CLOSED").length;

/** Of callers that come again as soon as they were answered, for as long as it lasts. */
async function keepCalling(isOn: () => boolean): Promise<void> {
  while (isOn()) answers.push(await chat(rig.url));
}

/** Two outages: in the first a probe fails, in the second a canary of the second stage. */
async function outages(): Promise<void> {
  let probes = 0;
  rig.gpu.mode = ({ body }) => (isProbe(body) && ++probes >= 2 ? setWell() : sick);
  await waitFor(() => closings() >= 1, 20_000, "the first recovery");
  let hasFailed = false;
  rig.gpu.mode = ({ body }) => {
    const isSecondStage = seen().at(-1)?.stage === 2;
    if (isSecondStage && !hasFailed) {
      hasFailed = true;
      return sick;
    }
    return hasFailed || isProbe(body) || seen().at(-1)?.to === "HALF_OPEN" ? well : sick;
  };
  await waitFor(() => closings() >= 2, 20_000, "the second recovery");
}

function setWell(): Mode {
  rig.gpu.mode = well;
  return well;
}

function arrivalOf({ atMs, endedAtMs, body, mode }: Arrival): Trace["arrivals"][number] {
  const untilMs = (endedAtMs ?? Number.POSITIVE_INFINITY) + clockOffsetMs;
  return { isProbe: isProbe(body), isWell: mode.kind === "ok", fromMs: atMs + clockOffsetMs, untilMs };
}

before(async () => {
  rig = await startRig({
    concurrency: 2,
    service: false,
    patch: balanceExactly,
    policy: ({ breaker }) => {
      Object.assign(breaker, noTrigger, {
        consecutiveFailuresThreshold: settings.streak,
        waitDurationInOpenState: `${settings.waitMs}ms`,
        maxWaitDurationInOpenState: `${settings.maxWaitMs}ms`,
        backoffResetAfter: `${settings.backoffResetMs}ms`,
        ramp: settings.stages,
      });
    },
  });
  let isOn = true;
  const calling = Array.from({ length: callers }, () => keepCalling(() => isOn));
  try {
    await outages();
  } finally {
    isOn = false;
    await Promise.all(calling);
  }
  trace = { transitions: seen(), arrivals: rig.gpu.arrivals.map(arrivalOf) };
});

after(() => rig.stop());

describe("two outages behind a real Envoy of two workers", () => {
  test("every transition is one that the model makes, at a time at which it makes it", () => {
    assert.deepEqual(faultsOfTransitions(trace.transitions, settings), []);
    const causes = new Set(trace.transitions.map(({ cause }) => cause));
    for (const cause of ["PROBE_FAILED", "CANARY_FAILED", "STAGE_PASSED", "RAMP_COMPLETE"])
      assert.ok(causes.has(cause), `${cause} is not among ${[...causes]}`);
  });

  test("the backend got nothing while Open, one probe at a time, and canaries within their stage's cap", () => {
    assert.deepEqual(faultsOfArrivals(trace, settings), []);
    assert.ok(trace.arrivals.filter((arrival) => arrival.isProbe).length >= 4);
  });

  test("every caller was served all the while", () => {
    assert.ok(answers.length > 50, `${answers.length} answers`);
    assert.deepEqual(
      answers.filter(({ status }) => status !== 200),
      [],
    );
  });

  const spoilt: Readonly<Record<string, (transitions: Trace["transitions"]) => Trace["transitions"]>> = {
    "a transition is missing": (all) => all.filter((_, index) => index !== 1),
    "a probe came before the wait was over": (all) =>
      all.map((each) => (each.cause === "WAIT_OVER" ? { ...each, atMs: each.atMs - 600 } : each)),
    "a probe's failure starts the ramp": (all) =>
      all.map((each) => (each.cause === "PROBE_FAILED" ? { ...each, to: "HALF_OPEN", stage: 1 } : each)),
    "a wait did not double": (all) =>
      all.map((each) => (each.openings === 2 ? { ...each, waitMs: settings.waitMs } : each)),
    "a stage was skipped": (all) => all.filter(({ cause }) => cause !== "STAGE_PASSED"),
  };
  for (const [what, spoil] of Object.entries(spoilt)) {
    test(`it would be noticed that ${what}`, () => {
      assert.notDeepEqual(faultsOfTransitions(spoil(trace.transitions), settings), []);
    });
  }

  test("it would be noticed that the backend got more than it may", () => {
    const open = trace.transitions.find(({ to }) => to === "OPEN");
    const ramp = trace.transitions.find(({ stage }) => stage === 1);
    assert.ok(open && ramp);
    const more = (fromMs: number) => ({ isProbe: false, isWell: true, fromMs, untilMs: fromMs + 5_000 });
    const spoiltBy = (...arrivals: readonly Trace["arrivals"][number][]) =>
      faultsOfArrivals({ ...trace, arrivals: [...trace.arrivals, ...arrivals] }, settings);
    assert.equal(spoiltBy(more(open.atMs + 600)).length, 1);
    assert.equal(spoiltBy(more(ramp.atMs), more(ramp.atMs), more(ramp.atMs)).length, 1);
  });
});
