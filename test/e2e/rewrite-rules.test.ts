import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { send } from "../support/client.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { clusterOf } from "./support/shipped-config.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    policy: neverOpen,
    patch: (config) => {
      Object.assign(clusterOf(config, "small").metadata.filter_metadata["llm.breaker"], {
        outputTokensField: "max_completion_tokens",
        remove: "tools, web_search, logit_bias",
        rename: "seed=random_seed",
        includeUsage: "true",
      });
    },
  });
});

beforeEach(() => {
  rig.reset();
  rig.gpu.mode = { kind: "status", status: 500 };
});

after(() => rig.stop());

const MESSAGES = '"messages":[{"role":"user","content":"grüße"}]';
const CHAT =
  `{"model":"qwen3-32b", ${MESSAGES},"tools":[{"type":"function","function":{"name":"f"}}],"seed":9007199254740993,` +
  '"max_tokens":4096,"tool_choice":"auto","logit_bias":{"1":2} ,"stream":true, "x":[ 1e400 ]}';
const REWRITTEN =
  `{"model":"qwen3-4b", ${MESSAGES},"random_seed":9007199254740993,` +
  '"max_completion_tokens":1024,"stream":true, "x":[ 1e400 ],"stream_options":{"include_usage":true}}';

const ask = (body: Buffer | string, headers: Record<string, string> = {}, path = "/v1/chat/completions") =>
  send(`${rig.url}${path}`, { body, headers });

const atSmall = () => rig.small.arrivals.at(-1);

test("a tier gets the body that its metadata ask for, and the first one the caller's own", async () => {
  const answer = await ask(CHAT);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small", answer.text);
  assert.equal(atSmall()?.body.toString(), REWRITTEN);
  assert.equal(rig.gpu.arrivals.at(-1)?.body.toString(), CHAT);
  for (const { rawHeaders } of [...rig.gpu.arrivals, ...rig.small.arrivals]) {
    assert.ok(!rawHeaders.some((text) => /^x-llm-breaker-/i.test(text)));
  }
});

test("a chunked body is rewritten as well", async () => {
  await send(`${rig.url}/v1/chat/completions`, { body: CHAT, chunked: true });
  assert.equal(atSmall()?.body.toString(), REWRITTEN);
});

for (const [coding, compress] of [
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
] as const) {
  test(`a body in ${coding} is sent plain where it had to be changed`, async () => {
    const body = compress(CHAT);
    const answer = await ask(body, { "content-encoding": coding });
    assert.equal(answer.headers["x-llm-breaker-backend"], "small", answer.text);
    assert.equal(atSmall()?.body.toString(), REWRITTEN);
    assert.equal(atSmall()?.headers["content-encoding"], undefined);
    assert.equal(Number(atSmall()?.headers["content-length"]), Buffer.byteLength(REWRITTEN));
    assert.deepEqual(rig.gpu.arrivals.at(-1)?.body, body);
    assert.equal(rig.gpu.arrivals.at(-1)?.headers["content-encoding"], coding);
  });
}

test("the next tier starts from the caller's body again", async () => {
  rig.small.mode = { kind: "status", status: 500 };
  const answer = await ask(CHAT);
  assert.equal(answer.headers["x-llm-breaker-backend"], "public");
  const body = rig.public_.arrivals.at(-1)?.body.toString() ?? "";
  assert.equal(body, CHAT.replace("qwen3-32b", "gpt-4o-mini").replace("4096", "1024"));
});

for (const [what, body, headers] of [
  ["no JSON", "--boundary\r\nSECRET-PART\r\n", { "content-type": "multipart/form-data; boundary=boundary" }],
  ["in a coding that is unknown", "SECRET-PART", { "content-encoding": "x-own" }],
  ["not what its coding says", '{"model":"SECRET-PART"}', { "content-encoding": "gzip" }],
  ["a list", '["SECRET-PART"]', {}],
] as const) {
  test(`a body that is ${what} reaches no tier that needs another`, async () => {
    const answer = await ask(body, headers);
    assert.ok(answer.status >= 400 && answer.text.startsWith("{"), `${answer.status} ${answer.text}`);
    for (const arrival of [...rig.small.arrivals, ...rig.public_.arrivals]) {
      assert.ok(!arrival.body.includes("SECRET-PART"), arrival.path);
    }
  });
}

test("a request without a body passes", async () => {
  const answer = await send(`${rig.url}/v1/models`);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small", answer.text);
  assert.equal(atSmall()?.path, "/v1/models");
});
