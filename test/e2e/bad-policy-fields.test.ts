import assert from "node:assert/strict";
import { test } from "node:test";
import { startRig } from "./support/rig.js";
import { chainOf, type PolicyJson } from "./support/shipped-config.js";

async function refusal(policy: (json: PolicyJson) => void): Promise<string> {
  try {
    const rig = await startRig({ service: false, policy });
    await rig.stop();
  } catch (error) {
    const lines = (error as Error).message.split("\n");
    return lines.find((line) => line.includes("the policy is refused")) ?? assert.fail(String(error));
  }
  return assert.fail("Envoy started with a policy that is wrong");
}

function assertNames(line: string, faults: Readonly<Record<string, string>>): void {
  for (const [field, rule] of Object.entries(faults)) {
    assert.ok(line.includes(`${field} ${rule}`), `"${field} ${rule}" is not in:\n${line}`);
  }
}

const count = "must be a whole number from";
const rate = `${count} 0 to 100`;
const factor = "must be a number from 0 to 1000";
const duration = "must be from";
const noDuration = "must be a duration";
const status = 'must be a status from 300 to 599, "4xx" or "5xx"';

test("one message names every wrong value of triggers, modes, outcomes, weights, prices and limits", async () => {
  const line = await refusal((policy) => {
    Object.assign(policy.breaker, {
      mode: "sleepy",
      slowCallRateThreshold: 101,
      slowFirstTokenThreshold: "0ms",
      slowFirstTokenPerPromptToken: "2 ms",
      slowTokenTime: 50,
      latencyDriftThreshold: -1,
      latencyDriftMinimumSamples: 0,
      failureCountThreshold: 1.5,
      backpressureRateThreshold: "80",
      backpressureWait: "50ms",
      maxRetryAfter: "2h",
      costRateThreshold: 1001,
      enforcingPercent: { failureRate: 101, slowCallRate: -1, latencyDrift: "all", hope: 1 },
      weights: { status: 11, timeout: -0.5, stall: "half", backpressure: 1 },
      outcomes: { failure: [200, "6xx", 404.5], neutral: 404, ignored: [404] },
      bodyRules: [
        { pattern: "", outcome: "failure" },
        { pattern: "x".repeat(65), outcome: "failure" },
        { pattern: "ü".repeat(33), outcome: "failure" },
        { pattern: "a", outcome: "sometimes" },
        { outcome: "neutral" },
        { pattern: "b" },
        { pattern: "c", outcome: "neutral", status: 500 },
        { pattern: "d", outcome: "neutral" },
        { pattern: "e", outcome: "neutral" },
      ],
    });
    policy.backends.gpu = {
      firstTokenTimeout: "50ms",
      maxConcurrentCalls: 0,
      price: { prompt: -1, completion: "free", image: 1 },
      budgetPerDay: -1,
    };
    policy.backends.small = { budgetPerDay: 10, breaker: { latencyDriftMinimumSamples: 301 } };
    chainOf(policy).answerHeaders = "yes";
  });
  assertNames(line, {
    "breaker.mode": "must be one of enforce, shadow, disabled, forcedOpen, forcedClosed",
    "breaker.slowCallRateThreshold": rate,
    "breaker.slowFirstTokenThreshold": duration,
    "breaker.slowFirstTokenPerPromptToken": noDuration,
    "breaker.slowTokenTime": noDuration,
    "breaker.latencyDriftThreshold": factor,
    "breaker.latencyDriftMinimumSamples": count,
    "breaker.failureCountThreshold": count,
    "breaker.backpressureRateThreshold": rate,
    "breaker.backpressureWait": duration,
    "breaker.maxRetryAfter": duration,
    "breaker.costRateThreshold": factor,
    "breaker.enforcingPercent.failureRate": rate,
    "breaker.enforcingPercent.slowCallRate": rate,
    "breaker.enforcingPercent.latencyDrift": rate,
    "breaker.enforcingPercent.hope": "is unknown",
    "breaker.weights.status": "must be a number from 0 to 10",
    "breaker.weights.timeout": "must be a number from 0 to 10",
    "breaker.weights.stall": "must be a number from 0 to 10",
    "breaker.weights.backpressure": "is unknown",
    "breaker.outcomes.failure[0]": status,
    "breaker.outcomes.failure[1]": status,
    "breaker.outcomes.failure[2]": status,
    "breaker.outcomes.neutral": "must be a list",
    "breaker.outcomes.ignored": "is unknown",
    "breaker.bodyRules": "must have at most 8 rules",
    "breaker.bodyRules[0].pattern": "must be a text",
    "breaker.bodyRules[1].pattern": "must be at most 64 bytes long",
    "breaker.bodyRules[2].pattern": "must be at most 64 bytes long",
    "breaker.bodyRules[3].outcome": "must be one of success, failure",
    "breaker.bodyRules[4].pattern": "is missing",
    "breaker.bodyRules[5].outcome": "is missing",
    "breaker.bodyRules[6].status": "is unknown",
    "backends.gpu.firstTokenTimeout": duration,
    "backends.gpu.maxConcurrentCalls": count,
    "backends.gpu.price.prompt": "must be a number from 0",
    "backends.gpu.price.completion": "must be a number from 0",
    "backends.gpu.price.image": "is unknown",
    "backends.gpu.budgetPerDay": "must be a number from 0",
    "backends.small.budgetPerDay": "needs a price",
    "backends.small.breaker.latencyDriftMinimumSamples": count,
    "chains.chat.answerHeaders": "must be true or false",
  });
  // The shared part is every backend's, and told once.
  assert.equal(line.split("breaker.mode ").length, 2);
});

test("a status with two outcomes is refused by the names of both", async () => {
  const line = await refusal((policy) => {
    policy.breaker.outcomes = { failure: [404, 404], neutral: [404], backpressure: ["5xx"], success: [503] };
    policy.backends.gpu = { breaker: { outcomes: { neutral: ["4xx"], failure: [429] } } };
  });
  assertNames(line, {
    "breaker.outcomes.neutral[0]": "is in breaker.outcomes.failure already",
    "breaker.outcomes.backpressure[0]": "is in breaker.outcomes.success already",
    "backends.gpu.breaker.outcomes.neutral[0]": "is in backends.gpu.breaker.outcomes.failure already",
  });
  assert.ok(!line.includes("failure[1]"), "the same outcome twice says nothing new");
});
