import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { begin, changesOf } from "./support.js";

const MARK = { "x-llm-breaker-rewritten": "1" };

async function rewrite(
  body: Buffer | string,
  metadata: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const bytes = Buffer.from(body);
  const job = begin(metadata, { "content-length": String(bytes.length), ...headers });
  job.onRequestHeaders(false);
  return changesOf(await job.onRequestBody(bytes, true));
}

test("sets content-length to bytes, for longer, shorter, equal and non-ASCII names", async () => {
  for (const model of ["a-much-longer-model-name", "q", "qwen3-4b!", "模型-é"]) {
    const { body = "", set } = await rewrite('{"model":"qwen3-32b","seed":12345678901234567890}', { model });
    assert.equal(body, `{"model":"${model}","seed":12345678901234567890}`);
    assert.deepEqual(set, { ...MARK, "content-length": String(Buffer.byteLength(body)) });
  }
});

test("adds no content-length to a chunked request", async () => {
  const job = begin({ model: "m" });
  const { body, set } = changesOf(await job.onRequestBody(Buffer.from('{"model":"x"}'), true));
  assert.equal(body, '{"model":"m"}');
  assert.deepEqual(set, MARK);
});

test("sends a compressed body plain when it had to be changed, and only then", async () => {
  const zipped = gzipSync('{"model":"x"}');
  const changed = await rewrite(zipped, { model: "longer" }, { "content-encoding": "gzip" });
  assert.equal(changed.body, '{"model":"longer"}');
  assert.deepEqual(changed.removed, ["content-encoding"]);
  assert.deepEqual(changed.set, { ...MARK, "content-length": "18" });
  const same = await rewrite(zipped, { model: "x" }, { "content-encoding": "gzip" });
  assert.deepEqual(same, { body: undefined, set: MARK, removed: [], more: false });
});

test("marks a body that is as it should be, changed or not", async () => {
  const marked = { body: undefined, set: MARK, removed: [], more: false };
  assert.deepEqual(await rewrite('{"model":"m"}', { model: "m" }), marked);
  assert.deepEqual(await rewrite('{"model":"x"}', {}), marked);
  assert.deepEqual(await rewrite('{"max_tokens":5000}', { maxOutputTokens: "many" }), marked);
});

test("does not mark what it can't read", async () => {
  const untouched = { body: undefined, set: {}, removed: [], more: false };
  const metadata = { model: "m", maxOutputTokens: "9" };
  for (const body of ["", "not json", "[1]", '{"model":']) {
    assert.deepEqual(await rewrite(body, metadata), untouched);
  }
  assert.deepEqual(await rewrite('{"model":"x"}', metadata, { "content-encoding": "x-own" }), untouched);
  assert.deepEqual(
    await rewrite(Buffer.from('{"model":"x"}'), metadata, { "content-encoding": "gzip" }),
    untouched,
  );
  const bomb = gzipSync(`{"model":"${"x".repeat(2_000_000)}"}`);
  assert.deepEqual(await rewrite(bomb, metadata, { "content-encoding": "gzip" }), untouched);
});

test("degraded rules hold while the meter says so", async () => {
  const metadata = { degradedMaxOutputTokens: "1024", degradedRemove: "tools" };
  const state = { "filter_state['wasm.llm.breaker.degrade']": "half-open" };
  const sent = Buffer.from('{"messages":[],"max_tokens":4096,"tools":[]}');
  const degraded = changesOf(await begin(metadata, {}, state).onRequestBody(sent, true));
  assert.equal(degraded.body, '{"messages":[],"max_tokens":1024}');
  const usual = changesOf(await begin(metadata).onRequestBody(sent, true));
  assert.equal(usual.body, undefined);
  assert.deepEqual([degraded.set, usual.set], [{}, {}], "no guard would take the mark off");
  const guarded = await begin({ ...metadata, model: "m" }, {}, state).onRequestBody(sent, true);
  assert.deepEqual(changesOf(guarded).set, MARK);
});

test("asks for the answer only where it is to be changed", async () => {
  assert.deepEqual(begin({ model: "m" }).onRequestHeaders(false), {});
  assert.deepEqual(begin({ answerModel: "caller" }).onRequestHeaders(true), {});
  const job = begin({ model: "m", answerModel: "caller" });
  assert.deepEqual(job.onRequestHeaders(false), {
    more: true,
    modeOverride: {
      request_header_mode: "SEND",
      request_body_mode: "BUFFERED",
      request_trailer_mode: "SKIP",
      response_header_mode: "SEND",
      response_body_mode: "STREAMED",
      response_trailer_mode: "SKIP",
    },
  });
  assert.equal(changesOf(await job.onRequestBody(Buffer.from('{"model":"mine"}'), true)).more, true);
  const unnamed = begin({ model: "m", answerModel: "caller" });
  unnamed.onRequestHeaders(false);
  assert.equal(changesOf(await unnamed.onRequestBody(Buffer.from("{}"), true)).more, false);
});

async function answerOf(headers: Record<string, string>, pieces: readonly string[]) {
  const job = begin({ model: "m", answerModel: "caller" });
  job.onRequestHeaders(false);
  await job.onRequestBody(Buffer.from('{"model":"mine"}'), true);
  const head = changesOf((await job.onResponseHeaders?.(200, new Map(Object.entries(headers)), false)) ?? {});
  const bodies = [];
  for (const [index, piece] of pieces.entries()) {
    bodies.push(
      changesOf((await job.onResponseBody?.(Buffer.from(piece), index === pieces.length - 1)) ?? {}).body,
    );
  }
  return { set: head.set, bodies };
}

test("maps the model back in JSON and in streams, and marks the answer", async () => {
  const adapted = { "x-llm-breaker-adapted": "1" };
  assert.deepEqual(
    await answerOf({ "content-type": "application/json; charset=utf-8" }, ['{"model":"m"', ',"a":1}']),
    {
      set: adapted,
      bodies: ['{"model":"mine"', undefined],
    },
  );
  assert.deepEqual(
    await answerOf({ "content-type": "text/event-stream" }, ['data: {"mod', 'el":"', 'm"}\n\n', ""]),
    {
      set: adapted,
      bodies: [undefined, 'el":"mine"', "}\n\n", undefined],
    },
  );
});

test("passes an answer that it can't read, unmarked", async () => {
  const passed = { set: {}, bodies: [undefined] };
  assert.deepEqual(await answerOf({ "content-type": "text/html" }, ['{"model":"m"}']), passed);
  const zipped = { "content-type": "application/json", "content-encoding": "gzip" };
  assert.deepEqual(await answerOf(zipped, ['{"model":"m"}']), passed);
});

test("a name that is longer than names are is put into no answer", async () => {
  const job = begin({ model: "m", answerModel: "caller" });
  job.onRequestHeaders(false);
  const body = Buffer.from(`{"model":"${"x".repeat(100_000)}"}`);
  assert.equal(changesOf(await job.onRequestBody(body, true)).more, false);
});

test("an answer in one piece that is longer than a MiB passes unmapped", async () => {
  const adapted = { "x-llm-breaker-adapted": "1" };
  for (const [length, set] of [
    ["1048576", adapted],
    ["1048577", {}],
  ] as const) {
    const headers = { "content-type": "application/json", "content-length": length };
    assert.deepEqual((await answerOf(headers, ['{"model":"m"}'])).set, set);
  }
});
