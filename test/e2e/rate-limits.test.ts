import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { send } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { ask, LEAST_PROMPT, MOST_PROMPT, passedOf, remainingOf, startLimited } from "./support/limited.js";
import type { Rig } from "./support/rig.js";

const LIMIT = 10_000;

const BATCH = { host: "batch.llm.internal" };

let rig: Rig;
let callers = 0;

before(async () => {
  rig = await startLimited({
    tokensPerMinute: LIMIT,
    requestsPerMinute: 400,
    concurrent: 300,
    classes: { batch: { tokensPerMinute: 500, concurrent: 1 } },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

/** One who has used nothing yet. */
const newCaller = (): string => `key-${++callers}`;

/** Waits until the caller has so many tokens left, by the answers to requests that cost 1 + prompt each. */
async function remains(caller: string, expected: (remaining: number) => boolean): Promise<void> {
  let last: number | undefined;
  const holds = async () => {
    last = remainingOf(await ask(rig, { caller, outputTokens: 1 }));
    return last !== undefined && expected(last);
  };
  await waitFor(holds, 5000, `what remains, ${last} at last,`);
}

test("200 requests at once never pass more than the limit, and what is refused costs no backend anything", async () => {
  rig.gpu.mode = { kind: "ok", delayMs: 2000 };
  const caller = newCaller();
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => ask(rig, { caller, outputTokens: 100 })),
  );
  const { passed, given } = passedOf(answers, LIMIT);
  assert.ok(passed * (100 + LEAST_PROMPT) <= LIMIT, `${passed} passed`);
  assert.ok(given <= LIMIT && given > LIMIT - 100 - MOST_PROMPT, `${given} tokens`);
  assert.equal(rig.gpu.arrivals.length, passed);
});

test("a refusal is OpenAI's 429", async () => {
  const caller = newCaller();
  rig.gpu.mode = { kind: "ok", delayMs: 500 };
  const first = ask(rig, { caller, outputTokens: LIMIT });
  await waitFor(() => rig.gpu.arrivals.length === 1, 5000, "the first request");
  const refused = await ask(rig, { caller, outputTokens: 100 });
  assert.equal(refused.status, 429);
  const { headers } = refused;
  assert.equal(headers["content-type"], "application/json");
  assert.ok(Number(headers["retry-after"]) >= 55 && Number(headers["retry-after"]) <= 65);
  assert.equal(headers["x-ratelimit-limit-tokens"], String(LIMIT));
  assert.equal(headers["x-ratelimit-remaining-tokens"], "0");
  assert.equal(headers["x-llm-breaker-reason"], "limited");
  assert.equal(headers["x-llm-breaker-backend"], undefined);
  const { error } = JSON.parse(refused.text) as { error: Record<string, string> };
  assert.deepEqual([error.type, error.code], ["tokens", "rate_limit_exceeded"]);
  assert.equal((await first).status, 200);
});

test("real usage takes the place of what was reserved once the answer is over", async () => {
  const caller = newCaller();
  const answer = await ask(rig, { caller, outputTokens: 5000 });
  assert.ok((remainingOf(answer) ?? 0) < LIMIT - 5000);
  await remains(caller, (remaining) => remaining > LIMIT - 200);
});

test("a stream's usage is known when it is over", async () => {
  const caller = newCaller();
  const usage = { prompt_tokens: 1000, completion_tokens: 3000, total_tokens: 4000 };
  const event = (fields: object) =>
    `data: ${JSON.stringify({ object: "chat.completion.chunk", ...fields })}\n\n`;
  const writes = [
    event({ choices: [{ index: 0, delta: { content: "hello" }, finish_reason: null }] }),
    event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
    event({ choices: [], usage }),
    "data: [DONE]\n\n",
  ];
  rig.gpu.mode = { kind: "chunks", headers: { "content-type": "text/event-stream" }, writes };
  await ask(rig, { caller, outputTokens: 100, stream: true });
  rig.reset();
  await remains(caller, (remaining) => remaining < LIMIT - 4000 && remaining > LIMIT - 4400);
});

test("a caller who leaves keeps his debit", async () => {
  const caller = newCaller();
  rig.gpu.mode = { kind: "hang" };
  const left = await ask(rig, { caller, outputTokens: 6000, leaveAfterMs: 300 });
  assert.equal(left.status, 0);
  rig.reset();
  const { status } = await ask(rig, { caller, outputTokens: 5000 });
  assert.equal(status, 429);
});

test("a request that failed has used nothing", async () => {
  const caller = newCaller();
  const body = '{"error":{"message":"no","type":"invalid_request_error","code":null}}';
  rig.gpu.mode = { kind: "status", status: 400, body };
  assert.equal((await ask(rig, { caller, outputTokens: 9000 })).status, 400);
  rig.reset();
  await remains(caller, (remaining) => remaining > LIMIT - 200);
});

test("callers and classes have budgets of their own", async () => {
  const caller = newCaller();
  const batch = await ask(rig, { caller, outputTokens: 400, headers: BATCH });
  assert.equal(batch.headers["x-ratelimit-limit-tokens"], "500");
  const other = await ask(rig, { caller: newCaller(), outputTokens: 1 });
  assert.equal(other.headers["x-ratelimit-limit-tokens"], String(LIMIT));
  assert.ok((remainingOf(other) ?? 0) > LIMIT - 100);
});

test("a place among those under way is free again when its request ends, or its caller leaves", async () => {
  const asking = { caller: newCaller(), outputTokens: 1, headers: BATCH };
  rig.gpu.mode = { kind: "hang" };
  const held = ask(rig, { ...asking, leaveAfterMs: 1000 });
  await waitFor(() => rig.gpu.arrivals.length === 1, 5000, "the held request");
  const refused = await ask(rig, asking);
  assert.equal(refused.headers["retry-after"], "1");
  assert.match(refused.text, /1 requests at once/);
  await held;
  rig.reset();
  await waitFor(async () => (await ask(rig, asking)).status === 200, 5000, "a free place");
});

test("what is no POST is not limited, and keeps its answer's headers", async () => {
  const { status, headers } = await send(`${rig.url}/v1/models`);
  assert.equal(status, 200);
  assert.deepEqual(
    Object.keys(headers).filter((name) => name.startsWith("x-ratelimit-")),
    [],
  );
});
