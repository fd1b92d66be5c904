import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { completion, jsonHead, sendProbe } from "./recovery.js";
import { type BackendAnswer, Worker } from "./worker.js";

const minuteMs = 60_000;
const tickMs = 250;
const usualMs = 400;
const driftedMs = 1_300;

const streamed: BackendAnswer = {
  headers: { ":status": "200", "content-type": "text/event-stream" },
  body: [
    'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n',
    "data: [DONE]\n\n",
  ],
};
/** Slow calls and streaks stay out of it. */
const steady = {
  slowCallRateThreshold: 0,
  consecutiveSlowCallsThreshold: 0,
  failureRateThreshold: 0,
  consecutiveFailuresThreshold: 0,
};

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
});

function start(breaker: object = {}): void {
  worker = new Worker(world, policyWith({ ...steady, ...breaker }));
}

/** One streamed call whose first token takes so long at gpu. */
function call(firstTokenMs: number, at: Worker = worker): string | undefined {
  const { attempts } = at.send({
    answer: (cluster) => {
      if (cluster === "gpu") world.clock.advance(firstTokenMs);
      return streamed;
    },
  });
  return attempts[0]?.cluster;
}

function tick(...workers: readonly Worker[]): void {
  world.clock.advance(tickMs);
  for (const each of workers.length ? workers : [worker]) each.vm.tick(each.meter);
}

function calls(count: number, firstTokenMs: number): void {
  for (let index = 0; index < count; index++) call(firstTokenMs);
  tick();
}

/** Calls that are spread evenly over minutes. */
function minutes(count: number, callsEach: number, firstTokenMs: (minute: number) => number): void {
  for (let minute = 0; minute < count; minute++) {
    for (let index = 0; index < callsEach; index++) {
      call(firstTokenMs(minute));
      world.clock.advance(minuteMs / callsEach - firstTokenMs(minute) - tickMs);
      tick();
    }
  }
}

const state = () => readRecord(world, "gpu").state;
const told = (what: "transition" | "report", cause: string) =>
  worker.vm.logs.filter(({ text }) => text.includes(`llm.breaker ${what}`) && text.includes(cause)).length;

describe("latencyDrift, with its defaults", () => {
  test("opens when the 95th percentile is above three times the baseline", () => {
    start();
    calls(100, usualMs);
    calls(10, usualMs * 3);
    assert.equal(state(), "CLOSED", "three times is not above it");
    calls(10, driftedMs);
    assert.equal(state(), "OPEN");
    assert.equal(told("transition", "LATENCY_DRIFT"), 1);
    assert.equal(call(1), "small");
  });

  test("nothing is judged below 100 samples, and nothing is learnt", () => {
    start();
    calls(99, usualMs);
    calls(99, driftedMs);
    assert.equal(state(), "CLOSED", "the first lesson was of both");
    calls(100, driftedMs);
    assert.equal(state(), "CLOSED");
  });

  test("one stutter in a hundred is no drift; with 300 samples two in a hundred are, by the 99th percentile", () => {
    start();
    const round = (slow: number): void => {
      calls(100 - slow, usualMs);
      calls(slow, driftedMs * 3);
    };
    for (let index = 0; index < 6; index++) round(0);
    // The 99th percentile has its own baseline from here on.
    world.clock.advance(minuteMs);
    for (let index = 0; index < 6; index++) round(0);
    for (let index = 0; index < 6; index++) round(1);
    assert.equal(state(), "CLOSED");
    for (let index = 0; index < 6 && state() === "CLOSED"; index++) round(2);
    assert.equal(state(), "OPEN");
  });

  test("times below 100 ms are never called drifted against each other", () => {
    start();
    calls(100, 3);
    calls(100, 40);
    calls(100, 290);
    assert.equal(state(), "CLOSED");
    calls(100, 320);
    assert.equal(state(), "OPEN");
  });

  test("what changes slowly is learnt, hour by hour", () => {
    start({ latencyDriftMinimumSamples: 20 });
    minutes(360, 30, (minute) => usualMs + minute * 4);
    assert.equal(state(), "CLOSED");
    calls(100, 1_900);
    assert.equal(state(), "CLOSED", "more than three times what it was at first");
  });

  test("what has drifted is not learnt, however long it lasts", () => {
    start({ latencyDriftMinimumSamples: 20, enforcingPercent: { latencyDrift: 0 } });
    minutes(10, 30, () => usualMs);
    assert.equal(told("report", "LATENCY_DRIFT"), 0);
    minutes(180, 30, () => driftedMs);
    const reports = told("report", "LATENCY_DRIFT");
    assert.ok(reports > 180, `${reports} reports in three hours`);
    assert.equal(state(), "CLOSED");
    minutes(15, 30, () => usualMs);
    const after = told("report", "LATENCY_DRIFT");
    minutes(30, 30, () => usualMs);
    assert.equal(told("report", "LATENCY_DRIFT"), after, "well again");
  });

  test("samples count for ten minutes", () => {
    start();
    calls(100, usualMs);
    calls(4, driftedMs);
    // With the old ones these would be enough.
    world.clock.advance(11 * minuteMs);
    calls(99, driftedMs);
    assert.equal(state(), "CLOSED");
    calls(1, driftedMs);
    assert.equal(state(), "OPEN");
  });

  test("the samples of before an opening do not open again, and the baseline is as it was", () => {
    start({ waitDurationInOpenState: "1s", ramp: [{ percent: 100, maxConcurrent: 1, successes: 1 }] });
    calls(100, usualMs);
    calls(100, driftedMs);
    assert.equal(state(), "OPEN");
    worker.vm.answerHttpCall(sendProbe(world, worker), jsonHead, completion);
    assert.equal(call(usualMs), "gpu");
    assert.equal(state(), "CLOSED");
    calls(99, usualMs);
    calls(50, usualMs);
    assert.equal(state(), "CLOSED");
    calls(100, driftedMs);
    assert.equal(state(), "OPEN");
  });
});

describe("latencyDrift, over VMs and policies", () => {
  test("workers add up to one baseline and one percentile", () => {
    start();
    const other = new Worker(world, policyWith(steady));
    const both = (count: number, firstTokenMs: number): void => {
      for (let index = 0; index < count; index++) {
        call(firstTokenMs);
        call(firstTokenMs, other);
      }
      tick(worker, other);
    };
    both(50, usualMs);
    both(50, driftedMs);
    assert.equal(state(), "OPEN");
  });

  test("a pushed policy goes on with the baseline, another window size included", () => {
    start();
    calls(100, usualMs);
    start({ slidingWindowSize: 60 });
    calls(100, driftedMs);
    assert.equal(state(), "OPEN");
  });

  test("what happens while the backend is disabled teaches nothing", () => {
    start({ mode: "disabled" });
    calls(100, driftedMs);
    start();
    calls(100, usualMs);
    calls(10, driftedMs);
    assert.equal(state(), "OPEN");
  });

  test("a policy that turns it off opens nothing, and learns nothing false", () => {
    start();
    calls(100, usualMs);
    start({ latencyDriftThreshold: 0 });
    calls(300, driftedMs);
    assert.equal(state(), "CLOSED");
  });
});

describe("costRate", () => {
  /** Of a budget of 1440 a minute may cost 3. */
  const budgetPerDay = 1_440;
  const priced = (breaker: object = {}): string => {
    const policy = JSON.parse(policyWith({ ...steady, ...breaker }));
    policy.backends.gpu = { price: { prompt: 1_000, completion: 2_000 }, budgetPerDay };
    return JSON.stringify(policy);
  };
  /** Costs so many thousandths: 1 a token of the prompt, 2 a token of the answer. */
  const costing = (thousandths: number): BackendAnswer => ({
    headers: jsonHead,
    body: [
      completion.replace(/}$/, `,"usage":{"prompt_tokens":${thousandths - 200},"completion_tokens":100}}`),
    ],
  });
  const spend = (thousandths: number, at: Worker = worker): void => {
    at.send({ answer: () => costing(thousandths) });
    tick(at);
  };

  test("opens above three times the even spend of a minute, and not at it", () => {
    worker = new Worker(world, priced());
    for (let index = 0; index < 3; index++) spend(1_000);
    assert.equal(state(), "CLOSED");
    spend(201);
    assert.equal(state(), "OPEN");
    assert.equal(told("transition", "COST_RATE"), 1);
  });

  test("a spend that stays at twice the even one never opens", () => {
    worker = new Worker(world, priced());
    for (let second = 0; second < 3_600; second += 6) {
      spend(200);
      world.clock.advance(6_000 - tickMs);
    }
    assert.equal(state(), "CLOSED");
  });

  test("what was spent a minute ago is forgotten", () => {
    worker = new Worker(world, priced());
    spend(2_900);
    world.clock.advance(minuteMs + 1_000);
    spend(2_900);
    assert.equal(state(), "CLOSED");
    spend(500);
    assert.equal(state(), "OPEN");
  });

  test("workers spend from one budget", () => {
    worker = new Worker(world, priced());
    const other = new Worker(world, priced());
    spend(1_600);
    spend(1_600, other);
    assert.equal(state(), "OPEN");
  });

  test("costRateThreshold is the multiple; 0 turns it off", () => {
    worker = new Worker(world, priced({ costRateThreshold: 1.5 }));
    spend(1_400);
    assert.equal(state(), "CLOSED");
    spend(300);
    assert.equal(state(), "OPEN");
    world = new World();
    worker = new Worker(world, priced({ costRateThreshold: 0 }));
    spend(1_000_000);
    assert.equal(state(), "CLOSED");
  });
});
