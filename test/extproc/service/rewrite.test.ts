import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Service } from "../../../extproc/server.js";
import {
  bodyMessage,
  clusterMetadata,
  headersMessage,
  type ServiceClient,
  startForTest,
} from "../support/client.js";

let service: Service;
let client: ServiceClient;
before(async () => {
  ({ service, client } = await startForTest());
});
after(async () => {
  client.close();
  await service.close();
});

async function rewrite(
  body: Buffer | string,
  metadata: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const stream = client.open("rewrite");
  const bytes = Buffer.from(body);
  const all = { ":path": "/v1/chat/completions", "content-length": String(bytes.length), ...headers };
  await stream.ask(headersMessage(all, { attributes: clusterMetadata(metadata) }));
  const answer = await stream.ask(bodyMessage(bytes));
  const response = answer.request_body?.response;
  return {
    body: response?.body_mutation?.body && Buffer.from(response.body_mutation.body).toString(),
    set: Object.fromEntries(
      (response?.header_mutation?.set_headers ?? []).map(({ header }) => [
        header.key,
        Buffer.from(header.raw_value ?? []).toString(),
      ]),
    ),
    removed: response?.header_mutation?.remove_headers ?? [],
  };
}

test("sets content-length to bytes, for longer, shorter, equal and non-ASCII names", async () => {
  for (const model of ["a-much-longer-model-name", "q", "qwen3-4b!", "模型-é"]) {
    const { body, set } = await rewrite('{"model":"qwen3-32b","seed":12345678901234567890}', { model });
    assert.equal(body, `{"model":"${model}","seed":12345678901234567890}`);
    assert.deepEqual(set, { "content-length": String(Buffer.byteLength(body)) });
  }
});

test("adds no content-length to a chunked request", async () => {
  const stream = client.open("rewrite");
  await stream.ask(headersMessage({ ":path": "/" }, { attributes: clusterMetadata({ model: "m" }) }));
  const answer = await stream.ask(bodyMessage('{"model":"x"}'));
  assert.deepEqual(answer.request_body?.response?.header_mutation?.set_headers ?? [], []);
});

test("caps the output by the cluster's metadata", async () => {
  const { body } = await rewrite('{"messages":[],"max_tokens":4096}', { maxOutputTokens: "1024" });
  assert.equal(body, '{"messages":[],"max_tokens":1024}');
});

test("sends a compressed body plain when it had to be changed, and only then", async () => {
  const zipped = gzipSync('{"model":"x"}');
  const changed = await rewrite(zipped, { model: "longer" }, { "content-encoding": "gzip" });
  assert.equal(changed.body, '{"model":"longer"}');
  assert.deepEqual(changed.removed, ["content-encoding"]);
  assert.equal(changed.set["content-length"], "18");
  const same = await rewrite(zipped, { model: "x" }, { "content-encoding": "gzip" });
  assert.deepEqual(same, { body: undefined, set: {}, removed: [] });
});

test("passes what it can't read, and everything of a cluster that asks nothing", async () => {
  const untouched = { body: undefined, set: {}, removed: [] };
  const metadata = { model: "m", maxOutputTokens: "9" };
  for (const body of ["", "not json", "[1]", '{"model":'])
    assert.deepEqual(await rewrite(body, metadata), untouched);
  assert.deepEqual(await rewrite('{"model":"x"}', metadata, { "content-encoding": "zstd" }), untouched);
  assert.deepEqual(await rewrite('{"model":"x"}', {}), untouched);
  assert.deepEqual(await rewrite('{"max_tokens":5000}', { maxOutputTokens: "many" }), untouched);
});
