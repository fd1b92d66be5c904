import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { badRequest, completion, jsonHead, recoverToRamp } from "./recovery.js";
import { type BackendAnswer, Worker } from "./worker.js";

type Line = Readonly<Record<string, string | number | boolean>>;

const good: BackendAnswer = { headers: jsonHead, body: [completion] };
const bad: BackendAnswer = { status: 500, body: ["no"] };
const busy: BackendAnswer = { status: 429, body: ["no"] };
const outOfMemory: BackendAnswer = {
  status: 500,
  headers: { "content-type": "application/json" },
  body: ['{"error":{"message":"CUDA out of memory. Tried to allocate 2.00 GiB"}}'],
};
const streamed: BackendAnswer = {
  headers: { ":status": "200", "content-type": "text/event-stream" },
  body: [
    'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n',
    "data: [DONE]\n\n",
  ],
};
/** No trigger but the one that is meant. */
const quiet = {
  failureRateThreshold: 0,
  consecutiveFailuresThreshold: 0,
  slowCallRateThreshold: 0,
  consecutiveSlowCallsThreshold: 0,
  backpressureRateThreshold: 0,
  outOfMemoryThreshold: 0,
  latencyDriftThreshold: 0,
  engineFatal: false,
};

class Announced {
  readonly world = new World();
  readonly worker: Worker;

  constructor(breaker: object, policy: (text: string) => string = (text) => text) {
    this.worker = new Worker(this.world, policy(policyWith({ ...quiet, ...breaker })));
  }

  /** One call at gpu after another; the next tiers stay out of it. */
  calls(...answers: readonly BackendAnswer[]): void {
    for (const answer of answers)
      this.worker.send({ answer: (cluster) => (cluster === "gpu" ? answer : badRequest) });
    this.tick();
  }

  firstTokens(count: number, ms: number): void {
    for (let index = 0; index < count; index++)
      this.worker.send({
        answer: (cluster) => {
          if (cluster === "gpu") this.world.clock.advance(ms);
          return streamed;
        },
      });
    this.tick();
  }

  tick(): void {
    this.world.clock.advance(250);
    this.worker.vm.tick(this.worker.meter);
  }

  /** What the lines of that kind say of gpu, without what others tests are about. */
  lines(kind: "transition" | "report" = "transition"): Line[] {
    const mark = `llm.breaker ${kind} `;
    return this.worker.vm.logs
      .filter(({ text }) => text.includes(mark))
      .map(({ text }) => JSON.parse(text.slice(text.indexOf(mark) + mark.length)) as Line)
      .filter(({ backend }) => backend === "gpu");
  }

  get last(): Line {
    const { calls, failureRate, consecutiveFailures, atMs, waitMs, generation, stage, ...line } =
      this.lines().at(-1) ?? {};
    const { backend, from, to, openings, ...rest } = line;
    return { ...rest, calls: calls ?? "", failureRate: failureRate ?? "", streak: consecutiveFailures ?? "" };
  }
}

const times = (count: number, answer: BackendAnswer) => Array.from({ length: count }, () => answer);

describe("a transition's line has the numbers that caused it", () => {
  test("failureRate, with a fraction and weights", () => {
    const seen = new Announced({ failureRateThreshold: 33, weights: { status: 0.5 } });
    seen.calls(...times(6, bad), ...times(3, good), ...times(5, bad));
    assert.deepEqual(seen.last, {
      cause: "FAILURE_RATE",
      calls: 10,
      failureRate: 35,
      streak: 1,
      threshold: 33,
    });
    const third = new Announced({ failureRateThreshold: 33, minimumNumberOfCalls: 12 });
    third.calls(...times(8, good), ...times(4, bad));
    assert.deepEqual(third.last.failureRate, 33.3);
  });

  test("consecutiveFailures and failureCount", () => {
    const streak = new Announced({ consecutiveFailuresThreshold: 3 });
    streak.calls(good, ...times(3, bad));
    const figures = { calls: 4, failureRate: 75, streak: 3, threshold: 3 };
    assert.deepEqual(streak.last, { cause: "CONSECUTIVE_FAILURES", ...figures });
    const count = new Announced({ failureCountThreshold: 2 });
    count.calls(bad, good, bad);
    assert.deepEqual(count.last, {
      cause: "FAILURE_COUNT",
      calls: 3,
      failureRate: 66.7,
      streak: 1,
      failures: 2,
      threshold: 2,
    });
  });

  test("out of memory, and nothing but backpressure", () => {
    const memory = new Announced({ outOfMemoryThreshold: 2 });
    memory.calls(outOfMemory, outOfMemory);
    assert.deepEqual(
      [memory.last.cause, memory.last.outOfMemory, memory.last.threshold],
      ["OUT_OF_MEMORY", 2, 2],
    );
    const pressure = new Announced({ backpressureRateThreshold: 80 });
    pressure.calls(good, ...times(9, busy));
    assert.deepEqual(pressure.last, {
      cause: "BACKPRESSURE",
      calls: 1,
      failureRate: 0,
      streak: 0,
      backpressure: 9,
      backpressureRate: 90,
      threshold: 80,
    });
  });

  test("slow calls and drift", () => {
    const slow = new Announced({
      slowCallRateThreshold: 40,
      slowFirstTokenThreshold: "1s",
      slidingWindowSize: 120,
    });
    slow.firstTokens(6, 10);
    slow.firstTokens(4, 1_500);
    const { calls, failureRate, streak, ...measured } = slow.last;
    assert.deepEqual(measured, { cause: "SLOW_CALL_RATE", firstTokens: 10, slowCallRate: 40, threshold: 40 });
    const row = new Announced({ consecutiveSlowCallsThreshold: 3, slowFirstTokenThreshold: "1s" });
    row.firstTokens(3, 1_500);
    assert.equal(row.last.cause, "CONSECUTIVE_SLOW_CALLS");
    assert.deepEqual([row.last.consecutiveSlowCalls, row.last.threshold], [3, 3]);
    const drift = new Announced({ latencyDriftThreshold: 2.5 });
    drift.firstTokens(100, 400);
    drift.firstTokens(10, 1_300);
    const { percentile, threshold, firstTokenMs, baselineMs, cause } = drift.last;
    assert.deepEqual([cause, percentile, threshold], ["LATENCY_DRIFT", 95, 2.5]);
    assert.ok(Number(firstTokenMs) > 2.5 * Number(baselineMs), `${firstTokenMs} ${baselineMs}`);
    assert.ok(Number(baselineMs) > 350 && Number(baselineMs) < 450, `${baselineMs}`);
  });

  test("money", () => {
    const priced = (text: string) =>
      text.replace('"gpu":{}', '"gpu":{"price":{"completion":1000},"budgetPerDay":1.44}');
    const seen = new Announced({ costRateThreshold: 3 }, priced);
    const usage = '"usage":{"prompt_tokens":1,"completion_tokens":4}';
    seen.calls({ headers: jsonHead, body: [completion.replace(/}$/, `,${usage}}`)] });
    const { cause, costPerMinute, budgetPerDay, threshold } = seen.last;
    assert.deepEqual([cause, costPerMinute, budgetPerDay, threshold], ["COST_RATE", 0.004, 1.44, 3]);
  });

  test("closing tells of the window that it empties", () => {
    const seen = new Announced({
      consecutiveFailuresThreshold: 5,
      waitDurationInOpenState: "1s",
      slidingWindowSize: 120,
      ramp: [{ percent: 100, maxConcurrent: 1, successes: 1 }],
    });
    recoverToRamp(seen.world, seen.worker);
    seen.calls(good);
    const { cause, calls, failureRate } = seen.last;
    assert.deepEqual([cause, calls, failureRate], ["RAMP_COMPLETE", 5, 100]);
  });
});

test("so has the line of a trigger that is only reported", () => {
  const seen = new Announced({ failureRateThreshold: 50, enforcingPercent: { failureRate: 0 } });
  seen.calls(...times(10, bad));
  assert.deepEqual(seen.lines("report"), [
    {
      backend: "gpu",
      cause: "FAILURE_RATE",
      opens: false,
      calls: 10,
      failureRate: 100,
      consecutiveFailures: 10,
      threshold: 50,
    },
  ]);
});
