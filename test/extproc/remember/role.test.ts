import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { callerSettings } from "../../../extproc/callers/settings.js";
import { AnswerCache } from "../../../extproc/remember/answer-cache.js";
import { RememberRole } from "../../../extproc/remember/role.js";
import { cacheSettings } from "../../../extproc/remember/settings.js";
import type { Exchange } from "../../../extproc/role.js";

const answer = JSON.stringify({
  model: "m",
  choices: [{ message: { content: "hello" }, finish_reason: "stop" }],
});

/** Whether the answer to this body, sent with gzip, is given again. */
async function isKept(body: string, maxBytes: number): Promise<boolean> {
  const cache = new AnswerCache(cacheSettings.parse({}), callerSettings.parse({}));
  const headers = {
    ":method": "POST",
    ":path": "/v1/completions",
    "x-api-key": "k",
    "content-encoding": "gzip",
  };
  const exchange: Exchange = { headers: new Map(Object.entries(headers)), attributes: new Map() };
  const job = new RememberRole(cache, maxBytes).begin(exchange);
  await job.onRequestBody(gzipSync(body), true);
  job.onResponseHeaders?.(200, new Map([["content-type", "application/json"]]), false);
  await job.onResponseBody?.(Buffer.from(answer), true);
  return cache.recall(exchange, JSON.parse(body)) !== undefined;
}

test("a request in a coding is kept by its size without it", async () => {
  const body = (bytes: number) => JSON.stringify({ model: "m", prompt: "x".repeat(bytes) });
  assert.equal(await isKept(body(9_000), 10_000), true);
  assert.equal(await isKept(body(11_000), 10_000), false);
});
