import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { EngineFigures } from "../../../extproc/signals/engine-metrics.js";
import { PageScanner } from "../../../extproc/signals/page-scanner.js";
import { findRepoRoot } from "../../support/repo-root.js";

function read(page: string): EngineFigures {
  const scanner = new PageScanner();
  scanner.feed(Buffer.from(page));
  return scanner.end();
}

const tells = (page: string, kvCacheUse: number | undefined, waiting: number | undefined) =>
  assert.deepEqual(read(page), { kvCacheUse, waiting }, page.slice(0, 200));

test("reads each engine's page", () => {
  const folder = join(findRepoRoot(), "test", "extproc", "signals", "pages");
  const told = Object.fromEntries(
    readdirSync(folder).map((file) => [file, read(readFileSync(join(folder, file), "utf8"))]),
  );
  assert.deepEqual(told, {
    "llamacpp.txt": { kvCacheUse: undefined, waiting: 7 },
    "lmdeploy.txt": { kvCacheUse: 0.31, waiting: 4 },
    "sglang.txt": { kvCacheUse: 0.8142, waiting: 12 },
    "tgi.txt": { kvCacheUse: 0.5, waiting: 3 },
    "trtllm-serve.txt": { kvCacheUse: 0.66, waiting: 2 },
    "triton.txt": { kvCacheUse: 0.75, waiting: 9 },
    "vllm-v0.txt": { kvCacheUse: 0.83, waiting: 1 },
    "vllm-v1.txt": { kvCacheUse: 0.97, waiting: 5 },
  });
});

test("old names, new names, both, neither: the newer one that tells something counts", () => {
  const older = 'vllm:gpu_cache_usage_perc{model_name="m"} 0.2\n';
  const newer = 'vllm:kv_cache_usage_perc{model_name="m"} 0.97\n';
  tells(older, 0.2, undefined);
  tells(newer, 0.97, undefined);
  tells(older + newer, 0.97, undefined);
  tells(newer + older, 0.97, undefined);
  tells("vllm:num_requests_running 4\n", undefined, undefined);
  tells(`${older}vllm:kv_cache_usage_perc NaN\n`, 0.2, undefined);
  tells("sglang:token_usage 0.9\nsglang:full_token_usage 0.4\n", 0.4, undefined);
});

test("a use that is missing, no number or no fraction is unknown, never 0", () => {
  for (const value of ["NaN", "-0.1", "+Inf", "-Inf", "97", "1.51", "0x1p-1", "", "0.5.5", "half", "1e400"]) {
    tells(`vllm:kv_cache_usage_perc{model_name="m"} ${value}\n`, undefined, undefined);
  }
  tells("vllm:kv_cache_usage_perc 0\n", 0, undefined);
  tells("vllm:kv_cache_usage_perc 1.02\n", 1, undefined);
});

test("a queue that is missing, no number or negative is unknown, never 0", () => {
  for (const line of [
    'vllm:num_requests_waiting_by_reason{reason="capacity"} 9',
    "vllm:num_requests_running 9",
    "# vllm:num_requests_waiting 9",
    "xvllm:num_requests_waiting 9",
    "vllm:num_requests_waiting NaN",
    "vllm:num_requests_waiting -1",
    "vllm:num_requests_waiting +Inf",
    "vllm:num_requests_waiting",
    'vllm:num_requests_waiting{a="b" 5',
    "vllm:num_requests_waiting 5 soon",
  ]) {
    tells(line, undefined, undefined);
  }
  tells("vllm:num_requests_waiting 0", undefined, 0);
  tells("vllm:num_requests_waiting 1e300", undefined, 1_000_000_000);
});

test("of several engines, ranks and models on a page the worst counts, of those that are known", () => {
  const page = [
    'vllm:kv_cache_usage_perc{engine="0"} 0.3',
    'vllm:kv_cache_usage_perc{engine="1"} 0.8',
    'vllm:kv_cache_usage_perc{engine="2"} NaN',
    'vllm:num_requests_waiting{engine="0"} 3.0',
    'vllm:num_requests_waiting{engine="1"} 1.0',
  ];
  tells(page.join("\n"), 0.8, 3);
  tells(page.reverse().join("\n"), 0.8, 3);
  tells(
    'sglang:num_queue_reqs{tp_rank="0"} 5\nsglang:num_queue_reqs{tp_rank="1"} 5\ntgi_queue_size 2\n',
    undefined,
    5,
  );
});

test("used and most blocks are put together by model", () => {
  const block = (kind: string, model: string, value: number | string) =>
    `nv_trt_llm_kv_cache_block_metrics{model="${model}",kv_cache_block_type="${kind}",version="1"} ${value}\n`;
  tells(
    block("used", "a", 10) + block("max", "b", 100) + block("max", "a", 20) + block("used", "b", 60),
    0.6,
    undefined,
  );
  tells(block("used", "a", 10), undefined, undefined);
  tells(block("max", "a", 10), undefined, undefined);
  tells(block("used", "a", 10) + block("max", "a", 0), undefined, undefined);
  tells(block("used", "a", "NaN") + block("max", "a", 10), undefined, undefined);
  tells("tgi_batch_current_max_tokens 0\ntgi_batch_max_total_tokens 16000\n", 0, undefined);
  tells("tgi_batch_current_max_tokens 500\n", undefined, undefined);
});

test("labels, times, exemplars, blanks and line ends as both formats have them", () => {
  for (const line of [
    'vllm:num_requests_waiting{model_name="a\\"} 7",path="C:\\\\"} 12',
    "vllm:num_requests_waiting 12 1700000000000",
    "vllm:num_requests_waiting{} 1.2e1 -5",
    '\t vllm:num_requests_waiting {a="ü } #",} \t 12.0  ',
    'vllm:num_requests_waiting{a="b"}12',
    'vllm:num_requests_waiting 12 1.7e9 # {trace="x"} 1',
    "vllm:num_requests_waiting +12",
  ]) {
    for (const end of ["", "\n", "\r\n", "\n# EOF\n"]) tells(line + end, undefined, 12);
  }
});
