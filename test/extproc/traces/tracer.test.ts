import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { inStage } from "../../../extproc/traces/trace.js";
import { loadTracePackages, Tracer } from "../../../extproc/traces/tracer.js";
import { type Collector, startCollector } from "../../support/otlp/collector.js";
import { waitFor } from "../../support/wait-for.js";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const SAMPLED = `00-${TRACE}-${SPAN}-01`;

const packages = await loadTracePackages();
let collector: Collector;
let lines: { level: string; reason?: string }[];
let tracer: Tracer;

before(async () => {
  collector = await startCollector();
});

beforeEach(() => {
  collector.exports.length = 0;
  collector.status = 200;
  lines = [];
  const line = (level: string) => (fields: object) => void lines.push({ level, ...fields });
  const log = { warn: line("warn"), info: line("info") };
  const endpoint = `http://127.0.0.1:${collector.port}`;
  tracer = new Tracer(packages, { endpoint, serviceName: "extproc" }, log as never);
});

after(() => collector.stop());

test("a stream's span is Envoy's child, and its stages are its own", async () => {
  const trace = tracer.begin("count", SAMPLED);
  assert.ok(trace);
  const counted = await inStage(
    trace,
    "tokenize",
    async () => 7,
    (tokens) => ({ "llm_breaker.prompt_tokens": tokens, "llm_breaker.exact": true, nothing: undefined }),
  );
  assert.equal(counted, 7);
  trace.end();
  await tracer.flush();
  const [stage, stream] = collector.spans;
  assert.equal(stream?.name, "llm_breaker.count");
  assert.deepEqual([stream?.traceId, stream?.parentId, stream?.service], [TRACE, SPAN, "extproc"]);
  assert.equal(stage?.name, "llm_breaker.tokenize");
  assert.deepEqual([stage?.traceId, stage?.parentId], [TRACE, stream?.spanId]);
  assert.deepEqual(stage?.attributes, { "llm_breaker.prompt_tokens": 7, "llm_breaker.exact": true });
});

test("what Envoy does not sample, or never traced, has no span", () => {
  for (const parent of [undefined, "", `00-${TRACE}-${SPAN}-00`, "odd"]) {
    assert.equal(tracer.begin("count", parent), undefined);
  }
});

test("a stage that fails tells the kind of its error and not its message", async () => {
  const trace = tracer.begin("count", SAMPLED);
  const fail = () => Promise.reject(new RangeError("SECRET"));
  await assert.rejects(
    inStage(trace, "limit", fail, () => ({})),
    RangeError,
  );
  trace?.end();
  await tracer.flush();
  const stage = collector.spans.find(({ name }) => name === "llm_breaker.limit");
  assert.deepEqual([stage?.status, stage?.attributes], [2, { "error.type": "RangeError" }]);
  assert.doesNotMatch(JSON.stringify(collector.spans), /SECRET/);
});

test("texts are cut", async () => {
  const trace = tracer.begin("count", SAMPLED);
  trace?.note({ "gen_ai.request.model": "m".repeat(100_000) });
  trace?.end();
  await tracer.flush();
  assert.equal(String(collector.spans[0]?.attributes["gen_ai.request.model"]).length, 200);
});

test("a collector that refuses is told of once, and so is its return", async () => {
  const send = async () => {
    tracer.begin("count", SAMPLED)?.end();
    await tracer.flush();
  };
  collector.status = 400;
  await send();
  await send();
  assert.deepEqual(
    lines.map(({ level }) => level),
    ["warn"],
  );
  collector.status = 200;
  await send();
  await waitFor(() => lines.length === 2, 1000, "the return");
  assert.equal(lines[1]?.level, "info");
});

test("a collector that hangs holds back neither streams nor the end, and what waits is bounded", async () => {
  collector.status = 0;
  const startMs = performance.now();
  for (let count = 0; count < 10_000; count++) tracer.begin("count", SAMPLED)?.end();
  const beginMs = performance.now() - startMs;
  await tracer.flush();
  assert.ok(performance.now() - startMs - beginMs < 4000, "flush has no limit");
  assert.ok(collector.spans.length <= 4096 + 512, `${collector.spans.length} spans`);
});
