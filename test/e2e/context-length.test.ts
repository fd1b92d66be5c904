import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Answer, chat, send } from "../support/client.js";
import type { Mode } from "../support/upstream-mode.js";
import { OutcomeCounts } from "./support/outcome-counts.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { addRoute, chainOf } from "./support/shipped-config.js";

// Refusals: what is wrong with the request is wrong everywhere, except that its prompt may fit a larger model.

let rig: Rig;
let outcomes: OutcomeCounts;

before(async () => {
  rig = await startRig({
    service: false,
    concurrency: 1,
    policy: (policy) => {
      neverOpen(policy);
      chainOf(policy).sameTierRetries = 0;
      policy.chains.narrow = { ...chainOf(policy), tiers: ["gpu", "small"] };
    },
    patch: (config) => addRoute(config, "/narrow/", "narrow"),
  });
  outcomes = new OutcomeCounts(rig);
});

beforeEach(() => rig.reset());

after(() => rig.stop());

const refusal = (body: string, status = 400): Mode => ({
  kind: "status",
  status,
  headers: { "content-type": "application/json" },
  body,
});

const ask = (path = "/v1/chat/completions", stream = false): Promise<Answer> =>
  send(rig.url + path, { body: JSON.stringify({ model: "m", stream, messages: [] }) });

const nested = (error: object): string => JSON.stringify({ error });
const flat = (message: string): string =>
  JSON.stringify({ object: "error", message, type: "BadRequestError", param: null, code: 400 });
const tokens =
  "This model's maximum context length is 32768 tokens. However, your request has 40000 input tokens.";

interface Words {
  readonly engine: string;
  readonly body: string;
  readonly status?: number;
}

const tooLong: readonly Words[] = [
  { engine: "OpenAI", body: nested({ message: tokens, code: "context_length_exceeded", param: "messages" }) },
  { engine: "vLLM", body: nested({ message: tokens, type: "BadRequestError", code: 400 }) },
  { engine: "older vLLM", body: flat(tokens) },
  {
    engine: "vLLM about max_tokens",
    body: nested({ message: "'max_tokens' or 'max_completion_tokens' is too large: 99999.", code: 400 }),
  },
  {
    engine: "SGLang",
    body: flat("The input (40000 tokens) is longer than the model's context length (32768 tokens)."),
  },
  {
    engine: "llama.cpp",
    body: nested({
      code: 400,
      message: "request (40000 tokens) exceeds the available context size (32768 tokens), try increasing it",
      type: "exceed_context_size_error",
      n_prompt_tokens: 40000,
      n_ctx: 32768,
    }),
  },
  {
    engine: "Text Generation Inference",
    status: 422,
    body: JSON.stringify({
      error: "Input validation error: `inputs` must have less than 32768 tokens. Given: 40000",
      error_type: "validation",
    }),
  },
  { engine: "LMDeploy", body: flat("The request exceeds the model context length.") },
  { engine: "Ollama", body: nested({ message: "the input length exceeds the context length" }) },
  {
    engine: "Anthropic",
    body: JSON.stringify({
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" },
    }),
  },
  {
    engine: "Gemini",
    body: `[${nested({ code: 400, message: "The input token count (40000) exceeds the maximum number of tokens allowed (32768).", status: "INVALID_ARGUMENT" })}]`,
  },
];

for (const { engine, body, status } of tooLong) {
  test(`too long in the words of ${engine}: the next tier with a larger window answers, or the words pass`, async () => {
    rig.gpu.mode = refusal(body, status);
    const answer = await chat(rig.url);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["x-llm-breaker-backend"], "public");
    assert.deepEqual(rig.hits, [1, 0, 1]);
    const narrow = await ask("/narrow/v1/chat/completions", true);
    assert.equal(narrow.status, status ?? 400);
    assert.equal(narrow.text, body);
    assert.equal(narrow.headers["x-llm-breaker-backend"], "gpu");
    assert.deepEqual(rig.hits, [2, 0, 1]);
    assert.deepEqual(await outcomes.news(), { neutral: 2 });
  });
}

test("no tier is asked that is not larger than the one that was too small, whatever comes after", async () => {
  rig.gpu.mode = refusal(nested({ message: tokens, code: "context_length_exceeded" }));
  rig.public_.mode = { kind: "reset" };
  const answer = await chat(rig.url);
  assert.equal(answer.status, 400);
  assert.deepEqual(rig.hits, [1, 0, 1]);
  assert.deepEqual(await outcomes.news(), { neutral: 1 });
});

test("an error inside a stream that tells of too long a prompt is no fault of the backend", async () => {
  const error = {
    error: "Input validation error: `inputs` must have less than 32768 tokens. Given: 40000",
    error_type: "validation",
  };
  const body = `data: ${JSON.stringify(error)}\n\n`;
  rig.gpu.mode = { kind: "chunks", writes: [body] };
  const answer = await ask("/generate_stream", true);
  assert.equal(answer.headers["x-llm-breaker-backend"], "public");
  const narrow = await ask("/narrow/generate_stream", true);
  assert.equal(narrow.status, 200);
  assert.equal(narrow.text, body);
  assert.deepEqual(rig.hits, [2, 0, 1]);
  assert.deepEqual(await outcomes.news(), { neutral: 2 });
});

const refused: readonly Words[] = [
  {
    engine: "OpenAI",
    body: nested({ message: "Your request was rejected.", code: "content_policy_violation", param: null }),
  },
  {
    engine: "Azure OpenAI",
    body: nested({
      message:
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      code: "content_filter",
      status: 400,
      innererror: {
        code: "ResponsibleAIPolicyViolation",
        content_filter_result: { violence: { filtered: true, severity: "high" } },
      },
    }),
  },
  {
    engine: "a validation that quotes the prompt",
    body: nested({ message: `1 validation error: ${tokens}` }),
  },
  { engine: "a money matter", status: 402, body: nested({ message: "Insufficient Balance" }) },
];

for (const { engine, body, status } of refused) {
  test(`refused in the words of ${engine}: passed on byte for byte, and no other tier is asked`, async () => {
    rig.gpu.mode = refusal(body, status);
    for (const stream of [false, true]) {
      const answer = await ask("/v1/chat/completions", stream);
      assert.equal(answer.status, status ?? 400);
      assert.equal(answer.text, body);
      assert.equal(answer.headers["content-length"], String(Buffer.byteLength(body)));
    }
    assert.deepEqual(rig.hits, [2, 0, 0]);
    assert.deepEqual(await outcomes.news(), { neutral: 2 });
  });
}

test("a model that the first tier does not know is the caller's to correct; a fallback's is ours, and told once", async () => {
  const body = nested({
    message: "The model `m` does not exist.",
    type: "invalid_request_error",
    code: "model_not_found",
  });
  for (const status of [404, 400]) {
    rig.gpu.mode = refusal(body, status);
    const answer = await ask();
    assert.equal(answer.status, status);
    assert.equal(answer.text, body);
  }
  assert.deepEqual(rig.hits, [2, 0, 0]);
  const setUpFault = /llm\.breaker: fallback small refuses/;
  assert.equal(rig.envoy.log.matching(setUpFault).length, 0);
  rig.gpu.mode = { kind: "status", status: 500 };
  for (const status of [404, 400, 404]) {
    rig.small.mode = refusal(body, status);
    const answer = await ask();
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["x-llm-breaker-backend"], "public");
    assert.equal(answer.headers["x-llm-breaker-tried"], `gpu=500, small=${status}`);
  }
  assert.equal(rig.envoy.log.matching(setUpFault).length, 1);
});

test("a fallback's own refusal of the request is the caller's answer", async () => {
  rig.gpu.mode = { kind: "reset" };
  const body = nested({ message: "temperature must be at most 2", type: "invalid_request_error" });
  rig.small.mode = refusal(body);
  const answer = await ask();
  assert.equal(answer.status, 400);
  assert.equal(answer.text, body);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  assert.deepEqual(rig.hits, [1, 1, 0]);
});
