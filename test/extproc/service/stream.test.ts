import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import type { Service } from "../../../extproc/server.js";
import { bodyMessage, headersMessage, type ServiceClient, settled, startForTest } from "../support/client.js";

const CHAT = "/v1/chat/completions";
const BODY = '{"model":"qwen3-32b","messages":[{"role":"user","content":"Hello!"}]}';

let service: Service;
let client: ServiceClient;
before(async () => {
  ({ service, client } = await startForTest());
});
after(async () => {
  client.close();
  await service.close();
});

test("answers a stream that begins with a response by CONTINUE", async () => {
  for (const role of ["count", "rewrite"]) {
    const stream = client.open(role);
    for (const kind of [
      "response_headers",
      "response_body",
      "response_trailers",
      "request_trailers",
    ] as const) {
      const answer = await stream.ask({ request: kind, [kind]: {} });
      assert.deepEqual(answer[kind], {}, kind);
    }
    stream.call.end();
    assert.ok(await stream.hasEnded());
  }
});

test("answers an unknown role by CONTINUE", async () => {
  const stream = client.open("surprise");
  assert.deepEqual((await stream.ask(headersMessage({ ":path": CHAT }))).request_headers, {});
  assert.deepEqual((await stream.ask(bodyMessage(BODY))).request_body, {});
  stream.call.end();
  assert.ok(await stream.hasEnded());
});

test("answers messages in their order when they come at once", async () => {
  const stream = client.open("count");
  stream.call.write(headersMessage({ ":path": CHAT }));
  const second = stream.ask(bodyMessage(BODY));
  assert.ok((await second).request_headers);
});

test("survives a thousand cancelled streams", async () => {
  const calls = Array.from({ length: 1000 }, () => client.open("count").call);
  for (const [index, call] of calls.entries()) {
    call.write(headersMessage({ ":path": CHAT }));
    if (index % 2 === 0) call.write(bodyMessage(BODY));
    if (index % 3 === 0) setImmediate(() => call.cancel());
    else call.cancel();
  }
  await Promise.all(calls.map(settled));
  assert.equal((await client.count(CHAT, BODY)).promptTokens, 10);
});

test("serves 500 streams at once without mixing them", async () => {
  const counts = await Promise.all(
    Array.from({ length: 500 }, async (_, index) => {
      const prompt = Array<number>(index + 1).fill(1);
      return (await client.count("/v1/completions", JSON.stringify({ prompt }))).promptTokens;
    }),
  );
  assert.deepEqual(
    counts,
    counts.map((_, index) => index + 1),
  );
});

test("answers any bytes, paths and headers, in both roles", async () => {
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map((text) => Buffer.from(text)),
  );
  const field = fc.constantFrom(
    "messages",
    "prompt",
    "tools",
    "model",
    "n",
    "max_tokens",
    "stream",
    "functions",
    "suffix",
  );
  const shaped = fc.dictionary(field, fc.jsonValue()).map((value) => Buffer.from(JSON.stringify(value)));
  const path = fc.constantFrom(CHAT, "/v1/completions", "", "/x?y");
  const coding = fc.constantFrom("", "gzip", "br", "deflate", ",,", "identity, gzip");
  const role = fc.constantFrom("count", "rewrite");
  await fc.assert(
    fc.asyncProperty(fc.oneof(noise, shaped), path, coding, role, async (body, at, contentEncoding, as) => {
      const stream = client.open(as);
      const attributes = { "xds.cluster_metadata.filter_metadata['llm.breaker'].model": "m" };
      await stream.ask(headersMessage({ ":path": at, "content-encoding": contentEncoding }, { attributes }));
      const answer = await stream.ask(bodyMessage(Buffer.from(body)));
      assert.ok(answer.request_body);
      assert.ok(await stream.hasEnded());
    }),
    { numRuns: 1500 },
  );
});
