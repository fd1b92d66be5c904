import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { RequestScope } from "./host/context.js";
import { World } from "./host/world.js";
import { OfferedWorker } from "./offered-worker.js";
import { neverOpens, policyWith } from "./policy.js";
import { badRequest, openGpu, recoverToRamp } from "./recovery.js";

type Json = Readonly<Record<string, unknown>>;

let world: World;
let worker: OfferedWorker;

beforeEach(() => {
  world = new World();
});

function start(breaker: Json = {}, more: Json = { tracing: true }): void {
  worker = new OfferedWorker(world, JSON.stringify({ ...JSON.parse(policyWith(breaker)), ...more }));
}

/** What a span that ended now would tell. */
function told({ filterState }: RequestScope): (string | undefined)[] {
  return ["tier", "state", "passed-over"].map((name) => filterState.get(`llm.breaker.${name}`)?.toString());
}

const failing = { status: 500, body: ["no"] };

test("a span is told the tier and its backend's state", () => {
  start();
  assert.deepEqual(told(worker.send().scope), ["1", "CLOSED", undefined]);
});

test("which tiers were passed over is told with the reason, also of a refused request", () => {
  start({ waitDurationInOpenState: "60s" });
  openGpu(world, worker);
  assert.deepEqual(told(worker.send({ answer: () => badRequest }).scope), ["2", "CLOSED", "gpu=refused"]);
  const closed = { breaker: { mode: "forcedOpen" } };
  start({}, { tracing: true, backends: { gpu: closed, small: closed, public: closed } });
  const refused = worker.send();
  assert.equal(refused.status, 503);
  assert.deepEqual(told(refused.scope), [undefined, undefined, "gpu=refused, small=refused, public=refused"]);
});

test("each attempt tells its own tier, and a tier that is passed over in failover is added", () => {
  const shut = { breaker: { mode: "forcedOpen" } };
  const tiers = ["gpu", "small", "other", "public"];
  const chains = { chat: { tiers, maxAttempts: 4, sameTierRetries: 0 } };
  start(
    { ...neverOpens },
    { tracing: true, chains, backends: { gpu: shut, small: {}, other: shut, public: {} } },
  );
  const seen: unknown[] = [];
  const answer = (cluster: string, _attempt: number, scope: RequestScope) => {
    seen.push([cluster, ...told(scope)]);
    return cluster === "small" ? failing : badRequest;
  };
  worker.send({ answer });
  assert.deepEqual(seen, [
    ["small", "2", "CLOSED", "gpu=refused"],
    ["public", "4", "CLOSED", "gpu=refused, other=refused"],
  ]);
});

test("a canary's span tells that its backend is half-open", () => {
  start({ ramp: [{ percent: 100, maxConcurrent: 1, successes: 9 }], waitDurationInOpenState: "1s" });
  recoverToRamp(world, worker);
  assert.deepEqual(told(worker.send().scope), ["1", "HALF_OPEN", undefined]);
});

test("nothing is told where the policy does not ask for it", () => {
  start({ ...neverOpens }, { backends: { gpu: { breaker: { mode: "forcedOpen" } }, small: {}, public: {} } });
  assert.deepEqual(told(worker.send({ answer: () => failing }).scope), [undefined, undefined, undefined]);
});
