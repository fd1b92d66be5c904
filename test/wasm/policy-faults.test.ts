import assert from "node:assert/strict";
import { test } from "node:test";
import { World } from "./host/world.js";

type Json = Readonly<Record<string, unknown>>;

/** The one line that names every fault; undefined when the policy is taken. */
function refusalOf(policy: Json): string | undefined {
  const { vm, configured } = configure({ backends: { gpu: {} }, ...policy });
  return configured ? undefined : vm.logs.at(-1)?.text;
}

function configure(policy: Json) {
  return configureText(JSON.stringify(policy));
}

function configureText(policy: string) {
  const vm = new World().addVm();
  return { vm, ...vm.addRoot("gate", policy) };
}

function assertFaults(policy: Json, faults: readonly string[]): void {
  const line = refusalOf(policy) ?? assert.fail("the policy was taken");
  for (const fault of faults) assert.ok(line.includes(fault), `"${fault}" is not in:\n${line}`);
  assert.equal(line.split("; ").length, faults.length, line);
}

const chain: Json = { tiers: ["gpu"] };
const service: Json = { cluster: "service" };

test("a number that is none for JSON is none here, and is not read up to where it still is one", () => {
  const policyOf = (size: string) =>
    `{"backends":{"gpu":{}},"chains":{"c":{"tiers":["gpu"]}},"breaker":{"slidingWindowSize":${size}}}`;
  for (const size of ["60", "6e1", "6.0E+1", "600e-1"])
    assert.ok(configureText(policyOf(size)).configured, size);
  for (const size of ["60-", "6-0", "060", "60.", "6e", "6e+", "+60", "-", ".6e2", "6.0.1"])
    assert.ok(!configureText(policyOf(size)).configured, size);
});

test("what goes by model is taken at its bounds", () => {
  const models = Array.from({ length: 32 }, (_, index) => `m${index}`);
  const policy = {
    chains: { a: { ...chain, models }, b: { ...chain, models: ["*", "ü".repeat(64)] }, c: chain },
    defaultChain: "c",
  };
  assert.equal(refusalOf(policy), undefined);
  assert.equal(refusalOf({ ...policy, chain: "by-model" }), undefined);
});

test("one message names every fault of what goes by model", () => {
  const many = Array.from({ length: 33 }, (_, index) => `m${index}`);
  assertFaults(
    {
      chains: {
        a: { ...chain, models: many },
        b: { ...chain, models: ["", "ü".repeat(65), 7, "x", "x", "m3"] },
        c: { ...chain, models: "qwen3-*" },
        "by-model": chain,
      },
      chain: "By-Model",
      defaultChain: "d",
    },
    [
      "chains.a.models must list at most 32 names or patterns",
      'chains.b.models[0] must be a text of 1 to 128 bytes, "*" for any text, got ""',
      "chains.b.models[1] must be a text of 1 to 128 bytes",
      'chains.b.models[2] must be a text of 1 to 128 bytes, "*" for any text, got 7',
      'chains.b.models[4] "x" is already a model of chain b',
      'chains.b.models[5] "m3" is already a model of chain a',
      "chains.c.models must be a list",
      "chains.by-model is not for a chain",
      'chain must be one of chains, got "By-Model"',
      'defaultChain must be one of chains, got "d"',
    ],
  );
});

test("what the service does is taken at its bounds", () => {
  const exhausted = [
    { action: "fixed", text: "ü".repeat(1000), status: 200 },
    { action: "fixed", text: "x", status: 599 },
    { action: "cached" },
    { action: "cached", maxAge: "1s", status: 400 },
    { action: "cached", maxAge: "24h" },
  ];
  for (const each of exhausted) {
    assert.equal(
      refusalOf({ service, chains: { chat: { ...chain, limits: true, exhausted: each } } }),
      undefined,
    );
  }
});

test("one message names every fault of what the service is to do", () => {
  assertFaults(
    {
      service,
      chains: {
        a: { ...chain, exhausted: { action: "fixed" }, limits: "yes" },
        b: { ...chain, exhausted: { action: "fixed", text: "ü".repeat(1001), status: 199, maxAge: "1m" } },
        c: { ...chain, exhausted: { action: "cached", text: "x", maxAge: "25h", status: 200 } },
        d: { ...chain, exhausted: { text: "x", maxAge: "1m" } },
        e: { ...chain, exhausted: { action: "fixed", text: 7 } },
        f: { ...chain, exhausted: { action: "apologize" } },
      },
    },
    [
      "chains.a.exhausted.text is missing",
      "chains.a.limits must be true or false",
      "chains.b.exhausted.text must be at most 2000 bytes long",
      "chains.b.exhausted.status must be a whole number from 200 to 599, got 199",
      "chains.b.exhausted.maxAge is only for the action cached",
      "chains.c.exhausted.text is only for the action fixed",
      "chains.c.exhausted.maxAge must be from 1000ms to 86400000ms, got 25h",
      "chains.c.exhausted.status must be a whole number from 400 to 599, got 200",
      "chains.d.exhausted.text is only for the action fixed",
      "chains.d.exhausted.maxAge is only for the action cached",
      "chains.e.exhausted.text must be a text, got 7",
      "chains.f.exhausted.action must be one of reply, bypass, fixed, cached",
    ],
  );
});

test("what nobody would do without the service is refused", () => {
  const exhausted = { action: "cached" };
  assertFaults({ chains: { chat: { ...chain, limits: true, exhausted } } }, [
    "chains.chat.limits needs service.cluster",
    "chains.chat.exhausted.action needs service.cluster",
  ]);
});

test("what long queues and full caches are held against is taken at its bounds", () => {
  const backends = { gpu: { breaker: { kvCacheUseThreshold: 100, shedAboveQueueDepth: 1_000_000 } } };
  const shedClasses = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(63));
  const chains = { chat: { tiers: ["gpu"] } };
  assert.equal(refusalOf({ backends, chains, shedClasses }), undefined);
  assert.equal(refusalOf({ backends, chains, shedClasses: [] }), undefined);
});

test("one message names every fault of what they are held against", () => {
  const backends = { gpu: { breaker: { kvCacheUseThreshold: 101, shedAboveQueueDepth: -1 } } };
  const shedClasses = ["batch", "", 7, "x".repeat(64), "a", "b", "c", "d", "e"];
  assertFaults({ backends, chains: { chat: { tiers: ["gpu"] } }, shedClasses }, [
    "backends.gpu.breaker.kvCacheUseThreshold must be a whole number from 0 to 100, got 101",
    "backends.gpu.breaker.shedAboveQueueDepth must be a whole number from 0 to 1000000, got -1",
    "shedClasses must list at most 8 classes",
    "shedClasses[1] must be a route's class, a text of 1 to 63 bytes",
    "shedClasses[2] must be a route's class, a text of 1 to 63 bytes, got 7",
    "shedClasses[3] must be a route's class, a text of 1 to 63 bytes",
  ]);
});
