// EXT-1: ext_proc down, slow or silent, in each breaker state.
// https://github.com/envoyproxy/envoy/issues/39994 https://github.com/envoyproxy/envoy/issues/38521

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { CLOSED, isProbe, noTrigger, type Rig, startRig } from "../e2e/support/rig.js";
import {
  addBackend,
  addRoute,
  chainOf,
  type PolicyJson,
  type ShippedConfig,
} from "../e2e/support/shipped-config.js";
import { type Answer, chat } from "../support/client.js";
import { freePort } from "../support/ports.js";
import { waitFor } from "../support/wait-for.js";
import { type Manner, OddProcessor } from "./support/odd-processor.js";

type State = "closed" | "open" | "halfOpen";

const waits = { waitDurationInOpenState: "60s", maxWaitDurationInOpenState: "60s" };

/** A backend for each state at gpu's server, a plain fallback for two of them. */
function addStates(policy: PolicyJson): void {
  // Above half of the window the prompt is counted in Closed too.
  policy.backends.closed = { contextWindow: 32, breaker: { ...noTrigger } };
  policy.backends.open = { breaker: { ...noTrigger, engineFatal: true, ...waits } };
  policy.backends.halfOpen = {
    breaker: {
      ...noTrigger,
      engineFatal: true,
      ramp: [{ percent: 100, maxConcurrent: 2, successes: 1000 }],
    },
  };
  policy.backends.plain = {};
  const chain = { ...chainOf(policy), sameTierRetries: 0 };
  policy.chains.closed = { ...chain, tiers: ["closed", "plain"] };
  policy.chains.open = { ...chain, tiers: ["open"] };
  policy.chains.halfOpen = { ...chain, tiers: ["halfOpen", "plain"] };
}

function route(config: ShippedConfig): void {
  addBackend(config, "plain", "gpu", 9103);
  for (const state of ["closed", "open", "halfOpen"]) {
    addBackend(config, state, "gpu");
    addRoute(config, `/${state}/`, state);
  }
}

/** Brings each backend to the state that it is named after. */
async function bringToStates(rig: Rig): Promise<void> {
  rig.gpu.mode = ({ body }) => (isProbe(body) ? { kind: "ok" } : { kind: "sseError", at: 0 });
  for (const state of ["open", "halfOpen"]) await chat(`${rig.url}/${state}`, { stream: true });
  rig.gpu.mode = { kind: "ok" };
  const isReady = () => rig.transitions("halfOpen" as never).at(-1)?.cause === "PROBE_SUCCEEDED";
  await waitFor(isReady, 5_000, "the ramp");
  rig.reset();
}

const ask = (rig: Rig, state: State): Promise<Answer> => chat(`${rig.url}/${state}`);
const hitsOf = (rig: Rig, state: State): number =>
  rig.gpu.arrivals.filter(({ path, body }) => path.startsWith(`/${state}/`) && !isProbe(body)).length;

async function assertClosedGoesOn(rig: Rig, withinMs: number): Promise<void> {
  const answer = await ask(rig, "closed");
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers["x-llm-breaker-backend"], "closed");
  assert.ok(answer.totalMs < withinMs, `answered after ${answer.totalMs} ms`);
  assert.equal(await rig.counter("closed" as never, "outcome.failure"), 0, "charged to the backend");
  assert.equal(await rig.state("closed" as never), CLOSED);
}

async function assertOpenRefuses(rig: Rig): Promise<void> {
  const answer = await ask(rig, "open");
  assert.equal(answer.status, 503);
  assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_exhausted");
  assert.ok(answer.totalMs < 300, `refused after ${answer.totalMs} ms`);
  assert.equal(hitsOf(rig, "open"), 0);
}

async function assertNoCanary(rig: Rig): Promise<void> {
  for (let call = 0; call < 2; call++) {
    const answer = await ask(rig, "halfOpen");
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers["x-llm-breaker-backend"], "plain");
  }
  assert.equal(hitsOf(rig, "halfOpen"), 0);
}

async function assertCanary(rig: Rig): Promise<void> {
  const answer = await ask(rig, "halfOpen");
  assert.equal(answer.headers["x-llm-breaker-backend"], "halfOpen");
  assert.equal(hitsOf(rig, "halfOpen"), 1);
}

describe("a service with bad habits", () => {
  const processor = new OddProcessor();
  let rig: Rig;

  before(async () => {
    const port = await freePort();
    await processor.listen(port);
    rig = await startRig({
      policy: addStates,
      fixedPorts: [port],
      patch: (config) => {
        route(config);
        for (const { name, load_assignment } of config.static_resources.clusters) {
          if (name !== "llm-breaker-service") continue;
          const address = { socket_address: { address: "127.0.0.1", port_value: port } };
          load_assignment.endpoints = [{ lb_endpoints: [{ endpoint: { address } }] }];
        }
      },
    });
    await bringToStates(rig);
  });

  beforeEach(() => {
    rig.reset();
    processor.messages = 0;
  });

  after(async () => {
    await rig.stop();
    processor.stop();
  });

  test("well: it is asked, and what it counts is a canary", async () => {
    await assertClosedGoesOn(rig, 1_000);
    await assertOpenRefuses(rig);
    await assertCanary(rig);
    assert.equal(processor.messages, 4, "two messages in Closed, two in Half-open, none in Open");
  });

  test("300 ms an answer is within the shipped time: nothing is lost by it", async () => {
    processor.manner = "slow";
    await assertClosedGoesOn(rig, 1_500);
    await assertOpenRefuses(rig);
    await assertCanary(rig);
  });

  const manners: Manner[] = ["wrongType", "otherNamespace", "silent"];
  for (const manner of manners) {
    test(`${manner}: Closed goes on, Open refuses at once, Half-open admits nobody`, async () => {
      processor.manner = manner;
      await assertClosedGoesOn(rig, 2_500);
      await assertOpenRefuses(rig);
      await assertNoCanary(rig);
      assert.ok(processor.messages > 0, "it was asked");
    });
  }
});

describe("a service that is gone", () => {
  let rig: Rig;

  before(async () => {
    rig = await startRig({ policy: addStates, patch: route });
    await bringToStates(rig);
  });

  beforeEach(() => rig.reset());

  after(() => rig.stop());

  test("well: a small request is a canary", () => assertCanary(rig));

  for (const signal of ["SIGSTOP", "SIGKILL"] as const) {
    test(`${signal}: Closed goes on, Open refuses at once, Half-open admits nobody`, async () => {
      rig.service?.signal(signal);
      await assertClosedGoesOn(rig, 2_500);
      await assertOpenRefuses(rig);
      await assertNoCanary(rig);
    });
  }
});
