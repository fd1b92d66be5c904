import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DryRun } from "../../../extproc/control/dry-run.js";
import type { DryRunResult } from "../../../extproc/control/dry-run-schemas.js";
import { ControlError } from "../../../extproc/control/errors.js";
import type { Fleet } from "../../../extproc/control/fleet.js";
import { History } from "../../../extproc/control/history.js";
import type { RecordedSecond } from "../../../extproc/sync/second-ring.js";
import { NO_CALLS, transition } from "../support/control.js";

const NOW_MS = 1_800_000_000_000;
const HOUR_S = 3600;
const GATEWAY = { process: "a1", node: "envoy-1", policy: "demo" };

/** Calls and failures by the second of the last hour. */
type Course = (second: number) => Partial<RecordedSecond>;

function record(course: Course): RecordedSecond[] {
  return Array.from({ length: HOUR_S }, (_, second) => {
    const seen = course(second);
    const weightedFailures = (seen.failures ?? 0) * 100;
    return { ...NO_CALLS, weightedFailures, ...seen, atMs: NOW_MS - (HOUR_S - second) * 1000 };
  });
}

function dryRunOf(courses: Record<string, Course>, history = new History(() => NOW_MS)): DryRun {
  const records = new Map(Object.entries(courses).map(([name, course]) => [name, record(course)]));
  const fleet: Fleet = { list: () => [], secondsOf: (name) => records.get(name) ?? [] };
  return new DryRun(fleet, history, () => NOW_MS);
}

function policy(breaker: Record<string, unknown> = {}, names = ["gpu"]): Record<string, unknown> {
  const backends = Object.fromEntries(names.map((name) => [name, {}]));
  return { name: "try", breaker, backends, chains: { chat: { tiers: names } } };
}

function only({ backends }: DryRunResult): DryRunResult["backends"][number] {
  const [first] = backends;
  assert.ok(first !== undefined && backends.length === 1);
  return first;
}

const ask = (breaker?: Record<string, unknown>) => ({ policy: policy(breaker), since: "1h" });
const secondOf = (at: string | undefined) =>
  Math.floor((Date.parse(at ?? "") - (NOW_MS - HOUR_S * 1000)) / 1000);
/** Sick for a minute, half an hour in. */
const outage: Course = (second) => ({ calls: 20, failures: second >= 1800 && second < 1860 ? 20 : 0 });

test("a backend that is well never opens", async () => {
  const { replayed, recorded } = only(await dryRunOf({ gpu: () => ({ calls: 50 }) }).run(ask()));
  assert.deepEqual(recorded, { seconds: 3600, calls: 180_000, failures: 0 });
  assert.deepEqual(replayed, {
    openings: [],
    openingCount: 0,
    notClosedMs: 0,
    refusedCalls: 0,
    endsAs: "CLOSED",
  });
});

test("an outage opens at once, probes fail while it lasts, and the ramp closes afterwards", async () => {
  const { replayed } = only(await dryRunOf({ gpu: outage }).run(ask()));
  const [first, ...later] = replayed.openings;
  assert.equal(secondOf(first?.at), 1800);
  assert.equal(first?.cause, "CONSECUTIVE_FAILURES");
  assert.ok(later.length >= 2 && later.every(({ cause }) => cause === "PROBE_FAILED"));
  assert.ok(replayed.openings.every(({ openings }, index) => openings === index + 1));
  assert.ok(replayed.notClosedMs > 60_000 && replayed.notClosedMs < 150_000, `${replayed.notClosedMs}`);
  assert.ok(replayed.refusedCalls > 1000);
  assert.equal(replayed.endsAs, "CLOSED");
});

test("the candidate's own thresholds decide", async () => {
  const course: Course = () => ({ calls: 10, failures: 3 });
  const gpu = { gpu: course };
  assert.equal(only(await dryRunOf(gpu).run(ask())).replayed.openingCount, 0);
  const strict = only(await dryRunOf(gpu).run(ask({ failureRateThreshold: 25 }))).replayed;
  assert.equal(strict.openings[0]?.cause, "FAILURE_RATE");
  const off = { failureRateThreshold: 0, consecutiveFailuresThreshold: 0 };
  assert.equal(only(await dryRunOf({ gpu: outage }).run(ask(off))).replayed.openingCount, 0);
  const reported = { enforcingPercent: { failureRate: 0 }, failureRateThreshold: 25 };
  assert.equal(only(await dryRunOf(gpu).run(ask(reported))).replayed.openingCount, 0);
});

test("memory, slowness and backpressure open by their own causes", async () => {
  const causeOf = async (course: Course) =>
    only(await dryRunOf({ gpu: course }).run(ask())).replayed.openings[0]?.cause;
  assert.equal(await causeOf(() => ({ calls: 50, failures: 2, outOfMemory: 2 })), "OUT_OF_MEMORY");
  assert.equal(await causeOf(() => ({ calls: 20, firstTokens: 20, slowCalls: 12 })), "SLOW_CALL_RATE");
  assert.equal(await causeOf(() => ({ calls: 2, backpressure: 40 })), "BACKPRESSURE");
});

test("a dead engine is known by its transition; what really happened stands beside it", async () => {
  const history = new History(() => NOW_MS);
  const base = NOW_MS - HOUR_S * 1000;
  const happen = (second: number, changes: Parameters<typeof transition>[0]) =>
    history.addTransition({
      gateway: GATEWAY,
      backend: "gpu",
      atMs: base + second * 1000,
      transition: transition(changes),
    });
  happen(100, { cause: "ENGINE_FATAL" });
  happen(160, { from: "OPEN", to: "HALF_OPEN", cause: "WAIT_OVER" });
  happen(161, { from: "HALF_OPEN", to: "HALF_OPEN", stage: 1, cause: "PROBE_SUCCEEDED" });
  happen(170, { from: "HALF_OPEN", to: "CLOSED", cause: "RAMP_COMPLETE" });
  const course: Course = (second) => ({
    calls: second > 100 && second < 161 ? 0 : 20,
    failures: second === 100 ? 1 : 0,
  });
  const { replayed, actual } = only(await dryRunOf({ gpu: course }, history).run(ask()));
  assert.deepEqual([replayed.openings[0]?.cause, secondOf(replayed.openings[0]?.at)], ["ENGINE_FATAL", 100]);
  assert.ok(
    replayed.openings.some(({ cause }) => cause === "PROBE_FAILED"),
    "it was sick while nobody called",
  );
  assert.deepEqual([actual.openingCount, actual.notClosedMs], [1, 70_000]);
  assert.equal(actual.openings[0]?.node, "envoy-1");
  const off = only(await dryRunOf({ gpu: course }, history).run(ask({ engineFatal: false })));
  assert.equal(off.replayed.openingCount, 0);
});

test("takes a policy as text too, one backend of it, and less than an hour", async () => {
  const dryRun = dryRunOf({ gpu: outage, small: outage, other: outage });
  const text = JSON.stringify(policy({}, ["gpu", "small", "new"]));
  const all = await dryRun.run({ policy: text, since: "1h" });
  assert.deepEqual(
    all.backends.map(({ name, recorded }) => [name, recorded.seconds]),
    [
      ["gpu", 3600],
      ["small", 3600],
      ["new", 0],
    ],
  );
  const one = only(await dryRun.run({ policy: text, backend: "small", since: "5m" }));
  assert.deepEqual([one.name, one.recorded.seconds, one.replayed.openingCount], ["small", 300, 0]);
  assert.equal(all.policy, "try");
  assert.ok(all.notes.length > 3);
});

test("refuses what Envoy would, in the same words", async () => {
  const dryRun = dryRunOf({ gpu: outage });
  const refusal = (given: unknown, backend?: string) =>
    dryRun
      .run({ policy: given as string, since: "1h", ...(backend && { backend }) })
      .catch((error: unknown) => {
        assert.ok(error instanceof ControlError && error.status === 400);
        return `${error.field}: ${error.message}`;
      });
  assert.equal(
    await refusal(policy({ failureRateThreshold: 101 })),
    "policy: breaker.failureRateThreshold must be a whole number from 0 to 100, got 101",
  );
  assert.match(String(await refusal("{")), /^policy: policy is not JSON/);
  assert.match(String(await refusal("")), /^policy: policy is not JSON/);
  assert.match(String(await refusal({})), /backends must name at least one backend/);
  assert.equal(await refusal(policy(), "gpuu"), "backend: backend must be one of the policy's: gpu");
  const deep = JSON.parse(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
  assert.equal(await refusal(deep), "policy: policy is nested too deeply");
  const many = policy(
    {},
    Array.from({ length: 33 }, (_, index) => `b${index}`),
  );
  assert.match(String(await refusal(many)), /more than 32 backends/);
});

test("an hour of 5000 calls a second takes less than a second, and rates hold when it is thinned out", async () => {
  const startMs = performance.now();
  const busy: Course = (second) => ({ calls: 5000, failures: second < 1800 ? 1000 : 2000 });
  const off = { consecutiveFailuresThreshold: 0 };
  const { replayed } = only(await dryRunOf({ gpu: busy }).run(ask(off)));
  const elapsedMs = performance.now() - startMs;
  const first = secondOf(replayed.openings[0]?.at);
  // 20 % for the first half, then 40 %: the window of 30 s passes 35 % after some 22.
  assert.ok(first >= 1820 && first < 1826, `${first}`);
  assert.ok(elapsedMs < 5_000, `${elapsedMs} ms`);
});

test("one runs at a time, and nonsense ends it with an error", async () => {
  const dryRun = dryRunOf({ gpu: outage });
  const first = dryRun.run(ask());
  await assert.rejects(dryRun.run(ask()), (error) => error instanceof ControlError && error.status === 429);
  await first;
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.json()), async (text) => {
      await assert.rejects(dryRun.run({ policy: text, since: "1h" }), ControlError);
    }),
    { numRuns: 15 },
  );
});
