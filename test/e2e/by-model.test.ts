import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type Answer, type CallSettings, send } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { rawCall } from "./support/raw-call.js";
import { type Rig, type RigSettings, startRig } from "./support/rig.js";
import { addBackend, type ShippedConfig } from "./support/shipped-config.js";

// One endpoint, three models: each has a backend of its own, and a chain whose `models` say so.
const ports = { large: 9101, little: 9102, far: 9103 };
const models = { large: ["qwen3-32b"], little: ["qwen3-*"], far: ["gpt-4o*", "*/gpt-4o"] };
type Name = keyof typeof ports;
const names = Object.keys(ports) as Name[];

const settingsOf = (more: { defaultChain?: Name | undefined } = {}, service = false): RigSettings => ({
  service,
  policy: (policy) => {
    for (const name of names) {
      policy.backends[name] = {};
      policy.chains[name] = { tiers: [name], models: models[name] };
    }
    for (const shipped of ["chat", "small", "public"]) delete policy.chains[shipped]?.models;
    Object.assign(policy, more);
  },
  patch: (config: ShippedConfig) => {
    for (const name of names) addBackend(config, name, "gpu", ports[name]);
  },
});

/** No model is served by default; no service runs. */
let strict: Rig;
/** Others go to `little`; the service runs. */
let lenient: Rig;

before(async () => {
  strict = await startRig(settingsOf({ defaultChain: undefined }));
  lenient = await startRig(settingsOf({ defaultChain: "little" }, true));
});

beforeEach(() => {
  strict.reset();
  lenient.reset();
});

after(async () => {
  await strict?.stop();
  await lenient?.stop();
});

const ask = (rig: Rig, body: string | Buffer, more: CallSettings = {}): Promise<Answer> =>
  send(`${rig.url}/v1/chat/completions`, { body, ...more });

const askFor = (rig: Rig, model: string, more: object = {}): Promise<Answer> =>
  ask(rig, JSON.stringify({ messages: [{ role: "user", content: "hi" }], ...more, model }));

const answerer = ({ headers }: Answer): string => String(headers["x-llm-breaker-backend"]);

/** What every backend got, in any order. */
const bodiesAt = ({ gpu, small, public_ }: Rig): Buffer[] =>
  [gpu, small, public_].flatMap(({ arrivals }) => arrivals.map(({ body }) => body));

function assertRefused(rig: Rig, answer: Answer, status: number, code: string, reason: string): string {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(answer.headers["x-llm-breaker-reason"], reason);
  const { error } = JSON.parse(answer.text);
  assert.deepEqual([error.type, error.param, error.code], ["invalid_request_error", "model", code]);
  assert.deepEqual(rig.hits, [0, 0, 0], "no backend was asked");
  return error.message;
}

const assertUnknown = (rig: Rig, answer: Answer): string =>
  assertRefused(rig, answer, 404, "model_not_found", "unknown_model");

test("three models on one endpoint each get the backend that serves them, streamed or not", async () => {
  for (const stream of [false, true]) {
    const asked = ["qwen3-32b", "qwen3-8b", "gpt-4o-mini", "openai/gpt-4o"];
    const answers = await Promise.all(asked.map((model) => askFor(strict, model, { stream })));
    assert.deepEqual(answers.map(answerer), ["large", "little", "far", "far"]);
    assert.ok(answers.every(({ status, complete }) => status === 200 && complete));
  }
  assert.deepEqual(strict.hits, [2, 2, 4]);
});

test("a model that nobody serves is 404 in OpenAI's form, or the default chain's", async () => {
  assert.match(assertUnknown(strict, await askFor(strict, "qwen2-7b")), /`qwen2-7b` does not exist/);
  const odd = 'x"\\</script>\n';
  assert.ok(assertUnknown(strict, await askFor(strict, odd)).includes(`\`${odd}\``));
  assert.match(assertUnknown(strict, await ask(strict, '{"messages":[]}')), /names no model/);
  assert.equal(answerer(await askFor(lenient, "qwen2-7b")), "little");
  assert.equal(answerer(await ask(lenient, '{"messages":[]}')), "little");
});

const forgeries = {
  "a second key": '{"model":"qwen3-8b","messages":[],"model":"qwen3-32b"}',
  "a second key before the messages": '{"model":"qwen3-8b","model":"qwen3-32b","messages":[]}',
  "a second key spelt with an escape": '{"model":"qwen3-8b","messages":[],"mod\\u0065l":"qwen3-32b"}',
  "a second key in capitals": '{"Model":"qwen3-32b","model":"qwen3-8b","messages":[]}',
  "a second key with another type": '{"model":"qwen3-8b","messages":[],"model":["qwen3-32b"]}',
};
for (const [what, body] of Object.entries(forgeries)) {
  test(`${what} picks no backend: it is refused`, async () => {
    for (const rig of [strict, lenient]) {
      assertRefused(rig, await ask(rig, body), 400, "llm_breaker_ambiguous_model", "ambiguous_model");
    }
  });
}

test("a second key of the same value is no forgery", async () => {
  const body = '{"model":"qwen3-8b","messages":[],"mod\\u0065l":"qwen3\\u002d8b"}';
  assert.equal(answerer(await ask(strict, body)), "little");
  assert.deepEqual(bodiesAt(strict).map(String), [body]);
});

test("keys inside other values, or inside texts, name nothing", async () => {
  const messages = [{ role: "user", content: '"model":"qwen3-32b"', model: "qwen3-32b" }];
  const answer = await ask(
    strict,
    JSON.stringify({ metadata: { model: "qwen3-32b" }, messages, model: "gpt-4o" }),
  );
  assert.equal(answerer(answer), "far");
  strict.reset();
  assertUnknown(strict, await ask(strict, JSON.stringify({ messages })));
});

test("a body in UTF-16, which some servers read, hides no other model in its bytes", async () => {
  const seenAsBytes = Buffer.concat([
    Buffer.from('{"x":"', "utf16le"),
    Buffer.from('","model":"qwen3-8b","y":"'),
    Buffer.from('","model":"qwen3-32b"}', "utf16le"),
  ]);
  assert.equal(JSON.parse(seenAsBytes.toString("utf16le")).model, "qwen3-32b");
  assertUnknown(strict, await ask(strict, seenAsBytes));
});

test("a model behind 200 kB of messages is found, and the body arrives as it was", async () => {
  const messages = Array.from({ length: 200 }, (_, at) => ({
    role: "user",
    content: `${at} ${'é\\"'.repeat(250)}`,
  }));
  const body = JSON.stringify({ messages, model: "gpt-4o" });
  assert.ok(body.length > 200_000);
  for (const chunked of [false, true]) {
    strict.reset();
    assert.equal(answerer(await ask(strict, body, { chunked })), "far");
    assert.deepEqual(bodiesAt(strict).map(sha256), [sha256(Buffer.from(body))]);
  }
});

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

test("GET and HEAD, which name no model, are the default chain's or 404", async () => {
  for (const method of ["GET", "HEAD"]) {
    const answer = await send(`${lenient.url}/v1/models`, { method });
    assert.deepEqual([answer.status, answerer(answer)], [200, "little"]);
    const refused = await send(`${strict.url}/v1/models`, { method });
    assert.equal(refused.status, 404);
    assert.equal(refused.headers["x-llm-breaker-reason"], "unknown_model");
    assert.ok(refused.complete);
  }
  assert.match(assertUnknown(strict, await send(`${strict.url}/v1/models`)), /names no model/);
});

test("a form's fields are not looked into", async () => {
  const form = '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\ngpt-4o\r\n--x--\r\n';
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  assert.equal(answerer(await ask(lenient, form, { headers })), "little");
  assertUnknown(strict, await ask(strict, form, { headers }));
});

test("a POST that ends by trailers is routed as well", async () => {
  const body = '{"messages":[],"model":"gpt-4o"}';
  const answer = await rawCall(
    strict.url,
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `transfer-encoding: chunked\r\ntrailer: x-t\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\nx-t: 1\r\n\r\n`,
  );
  assert.match(answer, /^HTTP\/1\.1 200 /);
  assert.match(answer, /x-llm-breaker-backend: far/);
});

test("each chain has its own breaker: one that is Open refuses its model alone", async () => {
  lenient.public_.mode = {
    kind: "status",
    status: 500,
    body: '{"error":{"message":"CUDA error: out of memory"}}',
  };
  await waitFor(async () => (await askFor(lenient, "gpt-4o")).status === 503, 5_000, "far refused");
  const refused = await askFor(lenient, "gpt-4o");
  assert.equal(refused.headers["x-llm-breaker-reason"], "exhausted");
  assert.match(refused.text, /No backend of chain far/);
  assert.equal(answerer(await askFor(lenient, "qwen3-32b")), "large");
});

test("two models in a compressed body are none: it is the default chain's", async () => {
  const headers = { "content-encoding": "gzip" };
  for (const body of Object.values(forgeries)) {
    assert.equal(answerer(await ask(lenient, gzipSync(body), { headers })), "little", body);
  }
});

test("a compressed body is routed by the service, and by default without it", async () => {
  const body = gzipSync('{"messages":[],"model":"qwen3-32b"}');
  const headers = { "content-encoding": "gzip" };
  assert.equal(answerer(await ask(lenient, body, { headers })), "large");
  assert.deepEqual(bodiesAt(lenient).map(sha256), [sha256(body)]);
  lenient.service?.signal("SIGSTOP");
  const slow = await ask(lenient, body, { headers });
  assert.equal(answerer(slow), "little", "asked in vain");
  await waitFor(async () => (await ask(lenient, body, { headers })).totalMs < 500, 8_000, "nobody is asked");
  assert.equal(answerer(await ask(lenient, body, { headers })), "little");
  assertUnknown(strict, await ask(strict, body, { headers }));
});
