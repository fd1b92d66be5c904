import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Action } from "./host/abi.js";
import { RequestScope } from "./host/context.js";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { Worker } from "./worker.js";

const body = '{"model":"m","messages":[{"role":"user","content":"hi"}]}';

/** As the meter tells it by its first success. */
function tellCalm(worker: Worker): Worker {
  const { metrics } = worker.vm.world;
  metrics.record(metrics.define("llm_breaker.gpu.steady"), 2n);
  return worker;
}

function workerOf(chain: string, more: Readonly<Record<string, unknown>> = {}): Worker {
  const policy = { ...JSON.parse(policyWith({}, { models: ["m"], ...more })), chain };
  return new Worker(new World(), JSON.stringify(policy));
}

/** What the gate asks the host for, for one chat, once it knows how the backends stand. */
function callsOf(worker: Worker): Record<string, number> {
  worker.send();
  const headers = worker.headersOf({ ...plain, "content-length": String(body.length) });
  const gate = worker.openGate(new RequestScope({}));
  worker.vm.hostCalls.clear();
  if (gate.requestHeaders(headers) === Action.hold && !gate.context.localReply) gate.requestBody(body, true);
  gate.endDownstream();
  return Object.fromEntries([...worker.vm.hostCalls].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const plain = {
  ":method": "POST",
  ":path": "/v1/chat/completions",
  ":authority": "llm.example",
  "content-type": "application/json",
};

/** A value that the host hands over costs as much as all the rest: docs/decisions/0036. */
describe("the gate asks the host for no more than it needs", () => {
  test("of a chat to the one chain, whose body it leaves alone", () => {
    const minimal = { tiers: ["gpu"], routing: "fixed", maxAttempts: 1, peek: false };
    assert.deepEqual(callsOf(tellCalm(workerOf("chat", minimal))), {
      clock_time_get: 1,
      proxy_get_header_map_pairs: 1,
      proxy_get_metric: 1,
      proxy_set_property: 1,
    });
  });

  test("of a chat whose model chooses the chain", () => {
    assert.deepEqual(callsOf(tellCalm(workerOf("by-model"))), {
      clock_time_get: 2,
      proxy_call_foreign_function: 1,
      proxy_get_buffer_bytes: 1,
      proxy_get_header_map_pairs: 1,
      proxy_get_metric: 1,
      proxy_set_property: 3,
    });
  });

  for (const chain of ["chat", "by-model"]) {
    test(`of a chat that it refuses, by chain ${chain}`, () => {
      const worker = workerOf(chain);
      worker.send({
        answer: () => ({ status: 500, body: ['{"error":{"message":"CUDA error: device-side assert"}}'] }),
      });
      assert.deepEqual(callsOf(worker), { clock_time_get: 1, proxy_send_local_response: 1 });
    });
  }
});
