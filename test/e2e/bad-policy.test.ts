import assert from "node:assert/strict";
import { test } from "node:test";
import { startRig } from "./support/rig.js";
import { gateOf, type PolicyJson, setPolicyText } from "./support/shipped-config.js";

async function refusal(settings: Parameters<typeof startRig>[0]): Promise<string> {
  try {
    const rig = await startRig({ service: false, ...settings });
    await rig.stop();
  } catch (error) {
    return (error as Error).message;
  }
  return assert.fail("Envoy started with a policy that is wrong");
}

function refusalLine(output: string): string {
  const lines = output.split("\n").filter((line) => line.includes("the policy is refused"));
  assert.ok(lines.length > 0, output);
  return lines[0] ?? "";
}

test("Envoy does not start with a wrong policy, and one message names every fault", async () => {
  const policy = (json: PolicyJson): void => {
    Object.assign(json.breaker, {
      failureRateThreshold: 101,
      minimumNumberOfCalls: "many",
      waitDurationInOpenState: "5 parsecs",
      slidingWindowSize: 0,
      failureRateTreshold: 35,
      probe: { path: "v1", lease: "10ms" },
      ramp: [{ percent: 0, maxConcurrent: 100_000, successes: 1 }],
    });
    json.chains.chat = {
      tiers: ["gpu", "nobody", "gpu"],
      maxAttempts: 0,
      commit: "sometime",
      exhausted: { action: "reply", status: 200 },
    };
    json.backends["odd name"] = {};
  };
  const output = await refusal({ policy });
  assert.match(output, /exit code [1-9]/);
  const line = refusalLine(output);
  for (const field of [
    "breaker.failureRateThreshold",
    "breaker.minimumNumberOfCalls",
    "breaker.waitDurationInOpenState",
    "breaker.slidingWindowSize",
    "breaker.failureRateTreshold",
    "breaker.probe.path",
    "breaker.probe.lease",
    "breaker.ramp[0].percent",
    "breaker.ramp[0].maxConcurrent",
    "chains.chat.tiers[1]",
    "chains.chat.tiers[2]",
    "chains.chat.maxAttempts",
    "chains.chat.commit",
    "chains.chat.exhausted.status",
    "backends.odd name",
  ]) {
    assert.ok(line.includes(field), `${field} is not named in:\n${line}`);
  }
});

for (const [what, text] of [
  ["no JSON", '{"name": "full", '],
  ["empty", ""],
  ["a list", "[1, 2]"],
  ["without backends", '{"name":"full"}'],
] as const) {
  test(`a policy that is ${what} is refused with a reason`, async () => {
    const output = await refusal({ patch: (config) => setPolicyText(gateOf(config), text) });
    assert.match(output, /exit code [1-9]/);
    assert.match(refusalLine(output), /refused.*: .+/);
  });
}
