import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAnswer } from "../support/api-checker.js";
import { ControlRig, report } from "../support/control.js";

const SECOND = { node: "envoy-2", process: "00000000000000a2" };

// biome-ignore lint/suspicious/noExplicitAny: what a test looks at is its own affair
type Get = (path: string) => Promise<any>;

async function withApi(check: (get: Get, rig: ControlRig) => Promise<void>): Promise<void> {
  const rig = new ControlRig();
  try {
    const port = await rig.serve();
    const get: Get = async (path) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      const answer: unknown = await response.json();
      checkAnswer("GET", path, response.status, answer);
      return answer;
    };
    await check(get, rig);
  } finally {
    rig.close();
  }
}

test("tells first tokens by the gateway that saw most of them", async () => {
  await withApi(async (get, rig) => {
    const latency = {
      samples: 40,
      p50Ms: 310,
      p99Ms: 900,
      judgedPercentile: 95,
      judgedMs: 700,
      baselineMs: 0,
    };
    rig.sync([report("gpu", { latency }), report("small")]);
    const latencyOf = async (name: string) => (await get(`/v1/backends/${name}`)).latency;
    const { baselineMs: _, ...unlearnt } = latency;
    assert.deepEqual(await latencyOf("gpu"), unlearnt);
    assert.equal(await latencyOf("small"), undefined);
    const more = { ...latency, samples: 41, judgedPercentile: 99, baselineMs: 250 };
    rig.sync([report("gpu", { latency: more })], SECOND);
    rig.sync([report("gpu", { latency })]);
    assert.deepEqual(await latencyOf("gpu"), more);
  });
});

test("names each policy's chains, while a push is under way those that most gateways have", async () => {
  await withApi(async (get, rig) => {
    const chains = async () => (await get("/v1/chains")).chains;
    assert.deepEqual(await chains(), []);
    const chat = { name: "chat", tiers: ["gpu", "small"] };
    rig.sync([], { chains: [chat, { name: "embed", tiers: ["small"] }] });
    rig.sync([], { ...SECOND, policy: "other", chains: [chat] });
    const demo = [
      { policy: "demo", ...chat },
      { policy: "demo", name: "embed", tiers: ["small"] },
    ];
    const other = { policy: "other", ...chat };
    assert.deepEqual(await chains(), [...demo, other]);
    const pushed = { policyHash: "00000000000000aa", chains: [{ name: "chat", tiers: ["small"] }] };
    const third = { node: "envoy-3", process: "00000000000000a3" };
    rig.sync([], { ...third, chains: [chat, { name: "embed", tiers: ["small"] }] });
    rig.sync([], { node: "envoy-4", process: "00000000000000a4", ...pushed });
    assert.deepEqual(await chains(), [...demo, other]);
    rig.sync([], { ...third, ...pushed });
    assert.deepEqual(await chains(), [{ policy: "demo", name: "chat", tiers: ["small"] }, other]);
    rig.pass(3_000);
    rig.gateways.sweep();
    assert.deepEqual(await chains(), []);
  });
});
