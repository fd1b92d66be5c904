import assert from "node:assert/strict";
import { test } from "node:test";
import { limitReply } from "../../../extproc/reply/limit-reply.js";

const headers = { "x-ratelimit-remaining-tokens": "5" };

test("a refusal is OpenAI's 429, with how long to wait and what is left", () => {
  const reply = limitReply({ allowed: false, retryAfterSeconds: 7, reason: "tokens", limit: 100, headers });
  assert.deepEqual([reply.status, reply.details], [429, "llm_breaker_limited"]);
  assert.deepEqual(reply.headers, {
    "content-type": "application/json",
    "retry-after": "7",
    "x-llm-breaker-reason": "limited",
    ...headers,
  });
  assert.deepEqual(JSON.parse(reply.body.toString()), {
    error: {
      message: "Rate limit reached: 100 tokens per minute. Please try again in 7s.",
      type: "tokens",
      param: null,
      code: "rate_limit_exceeded",
    },
  });
});

test("tells which limit it was", () => {
  const of = (reason: "requests" | "concurrency") =>
    JSON.parse(
      limitReply({ allowed: false, retryAfterSeconds: 1, reason, limit: 3, headers: {} }).body.toString(),
    ).error;
  assert.equal(of("requests").message, "Rate limit reached: 3 requests per minute. Please try again in 1s.");
  assert.equal(of("concurrency").message, "Rate limit reached: 3 requests at once. Please try again in 1s.");
  assert.equal(of("concurrency").type, "requests");
});
