import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { CLASS_ATTRIBUTE, LIMITS_ATTRIBUTE } from "../../../extproc/count/admission.js";
import { CANARY_ATTRIBUTE } from "../../../extproc/count/canary-ask.js";
import { type CountParts, CountRole } from "../../../extproc/count/role.js";
import type { Admission, LimitRequest } from "../../../extproc/limits/limiter.js";
import type { Answer } from "../../../extproc/messages.js";
import { REPLY_ATTRIBUTE } from "../../../extproc/reply/instruction.js";
import { jsonError } from "../../../extproc/reply/json-error.js";

const CHAT = "/v1/chat/completions";
const BODY = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], max_tokens: 9 });
const CANARY = [CANARY_ATTRIBUTE, '{"maxPromptTokens":256,"maxOutputTokens":1024}'] as const;
const LIMITED = [LIMITS_ATTRIBUTE, "1"] as const;
const REPLY = [REPLY_ATTRIBUTE, "{}"] as const;

const ALLOWED: Admission = {
  allowed: true,
  reservation: "r-1",
  headers: { "x-ratelimit-limit-tokens": "100" },
};
const REFUSED: Admission = {
  allowed: false,
  retryAfterSeconds: 3,
  reason: "tokens",
  limit: 100,
  headers: { "x-ratelimit-limit-tokens": "100" },
};

interface Given {
  parts?: Partial<CountParts>;
  attributes?: readonly (readonly [string, string])[];
  headers?: Record<string, string>;
}

function begin({ parts = {}, attributes = [], headers = {} }: Given) {
  const role = new CountRole({
    counter: { count: async () => ({ tokens: 5, isExact: true, family: "qwen" }) },
    replier: { reply: () => undefined },
    maxBodyBytes: 1_000_000,
    maxTextBytes: 262_144,
    warn: () => {},
    ...parts,
  });
  return role.begin({
    headers: new Map(Object.entries({ ":path": `${CHAT}?key=x`, ...headers })),
    attributes: new Map(attributes),
  });
}

const count = async (body: Buffer | string, given: Given = {}): Promise<Answer> =>
  begin(given).onRequestBody(Buffer.from(body), true);

function factsOf(answer: Answer): Record<string, unknown> {
  const fields = answer.dynamicMetadata?.fields?.["llm.breaker"]?.structValue?.fields ?? {};
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, Object.values(value)[0]]));
}

function limiterOf(admission: Admission) {
  const asked: LimitRequest[] = [];
  const cancelled: string[] = [];
  const limiter = {
    admit: async (request: LimitRequest) => {
      asked.push(request);
      return admission;
    },
    cancel: (reservation: string) => void cancelled.push(reservation),
  };
  const callers = { headers: ["x-api-key"], anonymous: "shared" as const };
  return { asked, cancelled, limits: { limiter, callers } };
}

test("counts what it can read, coded or not, and says whether it may be a canary", async () => {
  const given = { attributes: [CANARY] };
  const facts = { promptTokens: 5, outputTokens: 9, exact: true, canary: true, model: "m" };
  for (const answer of [
    await count(BODY, given),
    await count(gzipSync(BODY), { ...given, headers: { "content-encoding": "gzip" } }),
  ]) {
    assert.deepEqual(factsOf(answer), { ...facts, stream: false, images: 0, audio: 0 });
    assert.equal(answer.response, undefined);
  }
});

test("tells no size when counting fails, and nothing of a request without a body", async () => {
  const counter = { count: () => Promise.reject(new Error("no tokenizer")) };
  const unknown = { exact: false, stream: false, images: 0, audio: 0, canary: false };
  const facts = factsOf(await count(BODY, { parts: { counter }, attributes: [CANARY] }));
  assert.deepEqual(facts, { ...unknown, model: "m", outputTokens: 9 });
  assert.deepEqual(factsOf(await begin({}).onRequestHeaders(true)), unknown);
  assert.deepEqual(await begin({}).onRequestHeaders(false), {});
});

test("refuses with 413 what is over the limit, sent or decoded", async () => {
  for (const [body, headers] of [
    [Buffer.alloc(1_000_001), {}],
    [gzipSync(Buffer.alloc(1_000_001)), { "content-encoding": "gzip" }],
  ] as const) {
    const { immediate } = await count(body, { headers, attributes: [REPLY] });
    assert.equal(immediate?.status, 413);
    assert.equal(immediate.details, "llm_breaker_request_body_too_large");
  }
});

test("holds the caller to his limits where the chain has any", async () => {
  const { asked, limits } = limiterOf(ALLOWED);
  const headers = { "x-api-key": "secret" };
  const attributes = [LIMITED, [CLASS_ATTRIBUTE, "vip"]] as const;
  const facts = factsOf(await count(BODY, { parts: { limits }, headers, attributes }));
  assert.equal(facts.reservation, "r-1");
  assert.equal(facts["x-ratelimit-limit-tokens"], "100");
  assert.equal(asked[0]?.className, "vip");
  assert.match(asked[0]?.caller ?? "", /^[\w-]{43}$/);
  assert.deepEqual([asked[0]?.promptTokens, asked[0]?.outputTokens], [5, 9]);
  await count(BODY, { parts: { limits }, headers, attributes: [CANARY] });
  assert.equal(asked.length, 1);
});

test("asks the limits also for what it can't read, and names no caller that is none", async () => {
  const { asked, limits } = limiterOf(ALLOWED);
  await count("not json", { parts: { limits }, attributes: [LIMITED] });
  assert.deepEqual(asked, [
    { caller: undefined, className: "default", promptTokens: undefined, outputTokens: undefined, answers: 1 },
  ]);
});

test("tells of a set-up that limits nobody, or all as one", async () => {
  const told: string[] = [];
  const warn = (problem: string) => void told.push(problem);
  const { limits } = limiterOf(ALLOWED);
  await count(BODY, { parts: { warn } });
  await count(BODY, { parts: { warn, limits }, attributes: [LIMITED], headers: { "x-api-key": "secret" } });
  assert.deepEqual(told, []);
  await count(BODY, { parts: { warn }, attributes: [LIMITED] });
  assert.match(String(told.pop()), /this configuration has none: nobody is limited/);
  await count(BODY, { parts: { warn, limits }, attributes: [LIMITED] });
  assert.match(
    String(told.pop()),
    /none of callers.headers \(x-api-key\): all such are one caller; forward_rules/,
  );
  assert.deepEqual(told, []);
});

test("answers 429 when the limits refuse", async () => {
  const { limits } = limiterOf(REFUSED);
  const { immediate, dynamicMetadata } = await count(BODY, { parts: { limits }, attributes: [LIMITED] });
  assert.equal(immediate?.status, 429);
  assert.equal(immediate.headers["retry-after"], "3");
  assert.equal(immediate.headers["x-ratelimit-limit-tokens"], "100");
  assert.equal(immediate.details, "llm_breaker_limited");
  assert.equal(dynamicMetadata, undefined);
});

test("gives back what was reserved once nobody waits for the answer", async () => {
  const { cancelled, limits } = limiterOf(ALLOWED);
  const job = begin({ parts: { limits }, attributes: [LIMITED] });
  const answer = job.onRequestBody(Buffer.from(BODY), true);
  job.onEnd?.();
  await answer;
  assert.deepEqual(cancelled, ["r-1"]);
});

test("gives it back as well when the news that the caller left has waited for the event loop", async () => {
  const { cancelled, limits } = limiterOf(ALLOWED);
  const job = begin({ parts: { limits }, attributes: [LIMITED] });
  setImmediate(() => job.onEnd?.());
  await job.onRequestBody(Buffer.from(BODY), true);
  assert.deepEqual(cancelled, ["r-1"]);
});

test("hands a request that no tier can answer to the replier, and asks for no limits", async () => {
  const { asked, limits } = limiterOf(ALLOWED);
  const answer = jsonError(200, { message: "m", type: "t", code: "c" });
  const replier = { reply: (_: unknown, body: { model?: unknown }) => (body.model ? answer : undefined) };
  const given = { parts: { limits, replier }, attributes: [REPLY, LIMITED] };
  assert.deepEqual(await count(BODY, given), { immediate: answer });
  for (const nothing of ["{}", "not json", ""]) assert.deepEqual(await count(nothing, given), {});
  assert.equal(asked.length, 0);
});

test("answers no exhausted chain for a request whose parsing would hold others up", async () => {
  const replier = { reply: () => jsonError(200, { message: "m", type: "t", code: "c" }) };
  const body = JSON.stringify({ model: "m", pad: "x".repeat(2_097_152) });
  const parts = { replier, maxBodyBytes: 16_777_216 };
  assert.deepEqual(await count(body, { parts, attributes: [REPLY] }), {});
});
