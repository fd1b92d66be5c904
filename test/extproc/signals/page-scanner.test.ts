import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type EngineFigures, METRIC_NAMES } from "../../../extproc/signals/engine-metrics.js";
import { PageScanner } from "../../../extproc/signals/page-scanner.js";

function read(page: Uint8Array, pieceLength = 65_536): EngineFigures {
  const scanner = new PageScanner();
  for (let at = 0; at < page.length; at += pieceLength) scanner.feed(page.subarray(at, at + pieceLength));
  return scanner.end();
}

interface Line {
  readonly name: string;
  readonly labels: readonly (readonly [string, string])[];
  readonly value: string;
  readonly time: string;
  readonly end: string;
}

const escaped = (text: string) => text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");

const labels = fc.uniqueArray(fc.tuple(fc.constantFrom("engine", "model", "le", "a_b"), fc.string()), {
  selector: ([name]) => name,
  maxLength: 3,
});
const value = fc.oneof(
  fc.double({ min: -1, max: 2, noNaN: true }).map(String),
  fc.nat(20).map(String),
  fc.constantFrom("NaN", "+Inf", "-Inf", "5e-1", "0.25"),
);
const plainNames = METRIC_NAMES.filter((name) => !/^(tgi_batch|nv_trt)/.test(name));
const line = fc.record<Line>({
  name: fc.oneof(
    fc.constantFrom(...plainNames),
    fc.constantFrom(
      ...plainNames.map((name) => `${name}_by_reason`),
      "# HELP vllm:num_requests_waiting",
      "up",
    ),
  ),
  labels,
  value,
  time: fc.constantFrom("", " 1700000000000"),
  end: fc.constantFrom("\n", "\r\n", "\n\n"),
});

function print({ name, labels: pairs, value: text, time, end }: Line): string {
  const inner = pairs.map(([label, told]) => `${label}="${escaped(told)}"`).join(",");
  return `${name}${inner === "" ? "" : `{${inner}}`} ${text}${time}${end}`;
}

/** What the lines tell, from their parts: nothing is parsed. */
function expected(lines: readonly Line[]): EngineFigures {
  const worst = (...names: string[]) => {
    const isUse = /usage|token_usage|utilization/.test(names[0] ?? "");
    for (const name of names) {
      const values = lines
        .filter((each) => each.name === name)
        .map((each) => Number(each.value))
        .filter((each) => each >= 0 && Number.isFinite(each) && (!isUse || each <= 1.5));
      if (values.length > 0) return Math.max(...values);
    }
    return undefined;
  };
  const most = (figures: (number | undefined)[]) => {
    const known = figures.filter((each) => each !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  };
  const use = most([
    worst("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    worst("sglang:full_token_usage", "sglang:token_usage"),
    ...["trtllm_kv_cache_utilization", "lmdeploy:gpu_cache_usage_perc", "llamacpp:kv_cache_usage_ratio"].map(
      (name) => worst(name),
    ),
  ]);
  const waiting = most(
    METRIC_NAMES.filter((name) => /waiting|queue|deferred|pending/.test(name)).map((name) => worst(name)),
  );
  return {
    kvCacheUse: use === undefined ? undefined : Math.min(use, 1),
    waiting: waiting === undefined ? undefined : Math.ceil(waiting),
  };
}

test("tells of any valid page what its lines tell, whatever it is cut at", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.integer({ min: 1, max: 40 }), (lines, pieceLength) => {
      const page = Buffer.from(lines.map(print).join(""));
      assert.deepEqual(read(page, pieceLength), expected(lines));
    }),
    { numRuns: 500 },
  );
});

test("never throws, tells nothing that can't be, and does not depend on where a page is cut", () => {
  const snippet = fc.oneof(
    fc.constantFrom(...METRIC_NAMES),
    fc.constantFrom(
      "{",
      "}",
      '"',
      "\\",
      " ",
      "\n",
      "\r",
      "1",
      "0.5",
      "NaN",
      "#",
      'kv_cache_block_type="used"',
    ),
    fc.string(),
  );
  const page = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.array(snippet, { maxLength: 30 }).map((parts) => Buffer.from(parts.join(""))),
  );
  fc.assert(
    fc.property(page, fc.integer({ min: 1, max: 9 }), (bytes, pieceLength) => {
      const figures = read(bytes, pieceLength);
      assert.deepEqual(figures, read(bytes));
      const { kvCacheUse = 0, waiting = 0 } = figures;
      assert.ok(kvCacheUse >= 0 && kvCacheUse <= 1 && Number.isInteger(waiting) && waiting >= 0);
    }),
    { numRuns: 1_000 },
  );
});

test("a line that is too long is dropped, and the next one is read", () => {
  const page = `vllm:num_requests_waiting{a="${"x".repeat(20_000)}"} 5\ntgi_queue_size 2\n`;
  assert.equal(read(Buffer.from(page), 1_000).waiting, 2);
});

/** What one piece costs bounds how long others wait, so the worst page is one that is all work. */
test("costs little, also for pages of 2 MiB that are made to cost much", () => {
  const lora = (index: number) =>
    `vllm:time_to_first_token_seconds_bucket{engine="0",le="${index % 22}",lora="adapter-${index % 100}"} ${index}.0\n`;
  const pages = {
    "a hundred adapters": `${Array.from({ length: 23_000 }, (_, index) => lora(index)).join("")}vllm:num_requests_waiting 1\n`,
    "nothing but short lines": "x\n".repeat(1_048_576),
    "nothing but samples": "tgi_queue_size 1\n".repeat(123_361),
    "labels without an end": `nv_trt_llm_kv_cache_block_metrics{${"a".repeat(8_100)}} 1\n`.repeat(250),
    "one line": `vllm:num_requests_waiting{${'a="b",'.repeat(349_000)}`,
    "quotes that stay open": `vllm:num_requests_waiting{a="${"\\".repeat(8_000)}\n`.repeat(250),
  };
  for (const [name, text] of Object.entries(pages)) {
    const page = Buffer.from(text);
    const startedAt = process.cpuUsage();
    read(page);
    const { user } = process.cpuUsage(startedAt);
    assert.ok(user < 1_000_000, `${name}: ${user} µs`);
  }
});
