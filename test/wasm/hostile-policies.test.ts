import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import { Action } from "./host/abi.js";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { completion, jsonHead } from "./recovery.js";
import { RoutedWorker } from "./routed-worker.js";
import { Worker } from "./worker.js";

// Two policies in use at once, on two listeners or for the streams that outlive a push, share the records of their backends.

let world: World;

beforeEach(() => {
  world = new World();
});

const permits = (alias: string) => readRecord(world, alias).permits;

const rateOnly = { consecutiveFailuresThreshold: 0, failureRateThreshold: 35, minimumNumberOfCalls: 10 };

function workerOf(name: string, slidingWindowSize: number): Worker {
  return new Worker(
    world,
    JSON.stringify({ ...JSON.parse(policyWith({ ...rateOnly, slidingWindowSize })), name }),
  );
}

/** `calls` at gpu, three in five of them failing, each in a second of its own at most. */
function fail(worker: Worker, calls: number, between: (call: number) => void): void {
  for (let call = 0; call < calls; call++) {
    const isBad = call % 5 < 3;
    worker.send({ answer: (cluster) => (isBad && cluster === "gpu" ? { status: 500 } : { status: 400 }) });
    between(call);
    world.clock.advance(200);
  }
}

describe("two policies of one backend whose windows differ", () => {
  for (const [what, names] of [
    ["on two listeners", ["a", "b"]],
    ["of which one was pushed after the other", ["a", "a"]],
  ] as const) {
    test(`${what}: little traffic by the one does not empty the other's window`, () => {
      const first = workerOf(names[0], 30);
      const second = workerOf(names[1], 60);
      fail(first, 60, (call) => {
        if (call % 6 === 5) second.send();
      });
      assert.equal(readRecord(world, "gpu").state, "OPEN");
    });
  }
});

describe("a policy that is named like another one's text", () => {
  for (const name of ["team/0", "team/1", "0/team"]) {
    test(`${name}: attempts of the other one are watched by a worker that has not seen it`, () => {
      const policy = JSON.parse(policyWith());
      const first = new Worker(world, JSON.stringify({ ...policy, name: "team" }));
      const second = new Worker(world, JSON.stringify({ ...policy, name, shedClasses: [] }));
      const scope = first.newScope();
      const headers = first.plainHeaders();
      first.openGate(scope).requestHeaders(headers, true);
      const meter = second.openMeter(scope, "gpu");
      meter.requestHeaders(headers, true);
      const answer = second.headersOf({ ":status": "500" });
      meter.responseHeaders(answer, true);
      assert.equal(answer.get("x-llm-breaker-retry"), "1");
    });
  }
});

describe("a canary that outlives all that is kept of its policy", () => {
  const pushes = 9;
  const ramp = [{ percent: 100, maxConcurrent: 1, successes: 3 }];
  const breaker = { waitDurationInOpenState: "1s", ramp };

  /** Two chains at first, of which later policies have the second alone. */
  function policyOf(version: number): string {
    const policy = JSON.parse(policyWith(breaker));
    const { chat } = policy.chains;
    policy.backends.other = {};
    const alone = { chat: { ...chat, tiers: ["gpu", "small"], holdLimit: 100_000 + version } };
    policy.chains = version === 0 ? { other: { ...chat, tiers: ["other", "small"] }, ...alone } : alone;
    return JSON.stringify(policy);
  }

  /** A canary of the chain's first backend, with the gate behind it. */
  function openCanary(worker: RoutedWorker, chain: string) {
    worker.chain = chain;
    const scope = worker.newScope();
    const headers = worker.plainHeaders();
    headers.set(":method", "POST");
    headers.set("content-length", "2");
    const gate = worker.openGate(scope);
    gate.requestHeaders(headers);
    assert.equal(gate.requestBody("{}", true), Action.go);
    return { scope, headers, gate };
  }

  test("gives no permit of another backend back", () => {
    const first = new RoutedWorker(world, policyOf(0));
    for (const [chain, backend] of Object.entries({ other: "other", chat: "gpu" })) {
      first.chain = chain;
      const answer = (cluster: string) => ({ status: cluster === backend ? 500 : 400 });
      for (let call = 0; call < 5; call++) first.send({ answer });
    }
    world.clock.advance(2_000);
    first.vm.tick(first.gate);
    for (const probe of world.httpCalls) first.vm.answerHttpCall(probe, jsonHead, completion);
    openCanary(first, "other");
    const canary = openCanary(first, "chat");
    assert.deepEqual([permits("other"), permits("gpu")], [1, 1]);
    let last: Worker = first;
    for (let version = 1; version <= pushes; version++) last = new Worker(world, policyOf(version));
    const meter = last.openMeter(canary.scope, "gpu");
    meter.requestHeaders(canary.headers);
    meter.responseHeaders(last.headersOf({ ":status": "500" }), true);
    meter.endUpstream();
    canary.gate.endDownstream();
    assert.deepEqual([permits("other"), permits("gpu")], [1, 0]);
  });
});

describe("a chain's name, which callers are told inside JSON", () => {
  /** What was said about a policy whose only chain has this name; undefined when it was taken. */
  function refusalOf(name: string): string | undefined {
    const policy = JSON.parse(policyWith());
    policy.chains = { [name]: policy.chains.chat };
    const vm = world.addVm();
    const { configured } = vm.addRoot("gate", JSON.stringify(policy));
    return configured ? undefined : vm.logs.at(-1)?.text;
  }

  for (const name of ['q"uote', "back\\slash", "line\nend", "nul\0", "", "x".repeat(64)]) {
    test(`is refused when it is ${JSON.stringify(name).slice(0, 20)}`, () => {
      assert.match(refusalOf(name) ?? "", /chains.* must be 1 to 63 printable characters/s);
    });
  }

  test("may have blanks, umlauts and 63 characters", () => {
    for (const name of ["a b", "gro\u00df", "x".repeat(63)]) assert.equal(refusalOf(name), undefined, name);
  });
});
