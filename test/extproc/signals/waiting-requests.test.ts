import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readWaitingRequests } from "../../../extproc/signals/waiting-requests.js";

test("reads each engine's own gauge", () => {
  for (const name of [
    "vllm:num_requests_waiting",
    "sglang:num_queue_reqs",
    "tgi_queue_size",
    "trtllm_num_requests_waiting",
    "lmdeploy:num_requests_waiting",
    "llamacpp:requests_deferred",
    "nv_inference_pending_request_count",
  ]) {
    assert.equal(readWaitingRequests(`# TYPE ${name} gauge\nother 99\n${name} 12\n`), 12, name);
    assert.equal(readWaitingRequests(`${name}{model_name="a\\"} 7"} 1.2e1 1700000000000\r\n`), 12, name);
  }
});

test("adds up models and engines, but SGLang's ranks tell one queue", () => {
  const vllm = 'vllm:num_requests_waiting{engine="0"} 3.0\nvllm:num_requests_waiting{engine="1"} 4.0\n';
  assert.equal(readWaitingRequests(vllm), 7);
  const sglang =
    'sglang:num_queue_reqs{model_name="m",tp_rank="0"} 5\nsglang:num_queue_reqs{model_name="m",tp_rank="1"} 5\n';
  assert.equal(readWaitingRequests(sglang), 5);
});

test("a gauge that is missing, another one, or no number is unknown, never 0", () => {
  for (const page of [
    "",
    'vllm:num_requests_waiting_by_reason{reason="capacity"} 9',
    "vllm:num_requests_running 9",
    "# vllm:num_requests_waiting 9",
    "vllm:num_requests_waiting NaN",
    "vllm:num_requests_waiting -1",
    "vllm:num_requests_waiting +Inf",
    "vllm:num_requests_waiting",
    'vllm:num_requests_waiting{a="b" 5',
    'vllm:num_requests_waiting{e="0"} 3\nvllm:num_requests_waiting{e="1"} NaN',
  ]) {
    assert.equal(readWaitingRequests(page), undefined, page);
  }
  assert.equal(readWaitingRequests("vllm:num_requests_waiting 0"), 0);
});

test("never throws, and is quick with a page of 2 MiB", () => {
  fc.assert(
    fc.property(fc.string(), (noise) => {
      const found = readWaitingRequests(`vllm:num_requests_waiting${noise}`);
      assert.ok(found === undefined || found >= 0);
    }),
  );
  const startedAt = performance.now();
  readWaitingRequests(`vllm:num_requests_waiting{${'a="b",'.repeat(350_000)}`);
  readWaitingRequests("vllm:num_requests_waiting 1\n".repeat(75_000));
  assert.ok(performance.now() - startedAt < 2_000);
});
