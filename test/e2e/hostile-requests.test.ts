import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, send } from "../support/client.js";
import type { Mode } from "../support/upstream-mode.js";
import { answererOf, BackendUnderTest, type ExtraBackend, withBackends } from "./support/extra-backends.js";
import { OutcomeCounts, type Outcomes } from "./support/outcome-counts.js";
import { type Alias, CLOSED, HALF_OPEN, OPEN, type Rig, startRig } from "./support/rig.js";
import { clusterOf } from "./support/shipped-config.js";

// Whatever asks for no model's work must neither open a backend nor close one: anybody can send it, as often as he likes.

/** One failure is enough. */
const touchy: ExtraBackend = { breaker: { consecutiveFailuresThreshold: 1, engineFatal: true } };
const backends: Record<string, ExtraBackend> = {
  preflights: touchy,
  pages: touchy,
  polls: touchy,
  cancels: touchy,
  moderated: touchy,
  denied: touchy,
  before: { chain: { tiers: ["before", "moderated", "small"] } },
  recovering: {
    breaker: {
      consecutiveFailuresThreshold: 1,
      waitDurationInOpenState: "300ms",
      maxWaitDurationInOpenState: "600ms",
      ramp: [{ percent: 100, maxConcurrent: 2, successes: 2 }],
    },
  },
  polled: { breaker: { consecutiveFailuresThreshold: 5 } },
};
let rig: Rig;

before(async () => {
  rig = await startRig({
    concurrency: 1,
    ...withBackends(backends, {
      patch: (config) => {
        for (const alias of ["moderated", "denied"])
          clusterOf(config, alias).metadata.filter_metadata["llm.breaker"].credentials = "own";
      },
    }),
  });
});

beforeEach(() => rig.reset());

after(() => rig?.stop());

/** Each call was answered by the backend it went to, as it answered, and none says anything bad about it. */
async function assertNoEvidence(
  alias: string,
  answers: readonly Answer[],
  outcome: keyof Outcomes = "neutral",
): Promise<void> {
  const asked = answers.length;
  assert.deepEqual(
    answers.map((answer) => [answer.status, answererOf(answer), answer.complete]),
    answers.map(() => [200, alias, true]),
  );
  assert.deepEqual(rig.hits, [asked, 0, 0]);
  // The counts are a tick behind.
  await rig.waitForCounter(alias as Alias, `outcome.${outcome}`, asked);
  assert.deepEqual(await new OutcomeCounts(rig, alias as Alias).news(), { [outcome]: asked });
  assert.equal(await rig.state(alias as Alias), CLOSED);
}

async function repeat(count: number, call: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let index = 0; index < count; index++) answers.push(await call());
  return answers;
}

const emptyPage: Mode = {
  kind: "status",
  status: 200,
  headers: { "content-type": "text/html", "access-control-allow-origin": "*" },
  body: "",
};
const page: Mode = { ...emptyPage, body: "<html>llama.cpp</html>" };

test("a browser's preflights of a chat are no answers that were cut", async () => {
  rig.gpu.mode = ({ method }) => (method === "OPTIONS" ? emptyPage : { kind: "ok" });
  const headers = { origin: "http://app.example", "access-control-request-method": "POST" };
  const url = `${rig.url}/preflights/v1/chat/completions`;
  const answers = await repeat(3, () => send(url, { method: "OPTIONS", headers }));
  await assertNoEvidence("preflights", answers);
  assert.ok(answers.every((answer) => answer.headers["access-control-allow-origin"] === "*"));
  // The same answer to a chat is none.
  rig.gpu.mode = emptyPage;
  assert.equal(answererOf(await new BackendUnderTest(rig, "preflights").chat()), "small");
  await rig.waitForState(OPEN, "preflights" as Alias);
});

test("a page or nothing to a GET of a path that chats have is what was asked for", async () => {
  const answers: Answer[] = [];
  for (const end of [
    "chat/completions",
    "completions",
    "responses",
    "messages",
    "generate",
    "generate_stream",
  ]) {
    for (const mode of [page, emptyPage]) {
      rig.gpu.mode = mode;
      answers.push(await send(`${rig.url}/pages/v1/${end}`));
    }
  }
  await assertNoEvidence("pages", answers);
});

describe("a poll of what became of an earlier job", () => {
  const error = { code: "server_error", message: "EngineCore encountered an issue." };
  const job = JSON.stringify({ id: "resp_1", object: "response", status: "failed", error, output: [] });
  const event = `event: error\ndata: ${JSON.stringify({ error })}\n\n`;

  test("is no failure of the backend's, and goes to no other", async () => {
    const answers: Answer[] = [];
    for (const path of ["responses/resp_1", "responses", "batches/b_1", "messages"]) {
      rig.gpu.mode = { kind: "status", status: 200, body: job };
      answers.push(await send(`${rig.url}/polls/v1/${path}`));
      assert.equal(answers.at(-1)?.text, job);
      rig.gpu.mode = { kind: "chunks", writes: [event] };
      answers.push(await send(`${rig.url}/polls/v1/${path}`));
      assert.equal(answers.at(-1)?.text, event);
    }
    await assertNoEvidence("polls", answers);
  });

  test("is none either when it is a POST, as a cancel is", async () => {
    const answers: Answer[] = [];
    for (const path of ["responses/resp_1/cancel", "batches/b_1/cancel", "fine_tuning/jobs/j_1/cancel"]) {
      rig.gpu.mode = { kind: "status", status: 200, body: job };
      answers.push(await send(`${rig.url}/cancels/v1/${path}`, { body: "{}" }));
      assert.equal(answers.at(-1)?.text, job);
    }
    await assertNoEvidence("cancels", answers, "success");
  });

  test("tells of a failure when it answers a chat", async () => {
    rig.gpu.mode = { kind: "status", status: 200, body: job };
    const answer = await send(`${rig.url}/polls/v1/responses`, { body: "{}" });
    assert.equal(answererOf(answer), "small");
    await rig.waitForCause("ENGINE_FATAL", "polls" as Alias);
  });
});

describe("GETs of a backend whose model is dead", () => {
  const withoutBody = { headers: { "content-length": "0" } };

  test("are no canaries: they go to the next tier and bring nothing back", async () => {
    const backend = new BackendUnderTest(rig, "recovering");
    rig.gpu.mode = { kind: "status", status: 500 };
    await backend.chat();
    rig.gpu.mode = { kind: "ok" };
    await rig.waitForState(HALF_OPEN, "recovering" as Alias);
    rig.reset();
    const answers = await repeat(6, () => send(`${rig.url}/recovering/v1/models`, withoutBody));
    assert.deepEqual(new Set(answers.map(answererOf)), new Set(["small"]));
    await sleep(300);
    assert.equal(await backend.counter("canaries"), 0);
    assert.equal(await backend.state(), HALF_OPEN);
    // Chats do.
    assert.deepEqual(await backend.chats(2), ["recovering", "recovering"]);
    await rig.waitForState(CLOSED, "recovering" as Alias);
  });

  test("do not end a streak of chats that fail", async () => {
    const backend = new BackendUnderTest(rig, "polled");
    rig.gpu.mode = ({ method }) => (method === "GET" ? { kind: "ok" } : { kind: "status", status: 500 });
    for (let index = 0; index < 5; index++) {
      await send(`${rig.url}/polled/v1/models`);
      await backend.chat();
    }
    await rig.waitForCause("CONSECUTIVE_FAILURES", "polled" as Alias);
  });
});

describe("a 403 of a provider that has our key", () => {
  const refusing = (error: object): Mode => ({
    kind: "status",
    status: 403,
    body: JSON.stringify({ error }),
  });
  const errors = [
    { message: "Your input was flagged", code: "content_policy_violation", type: "invalid_request_error" },
    { message: "The response was filtered.", code: "content_filter" },
    { message: 'm/m requires moderation. Your input was flagged for "violence".', code: 403 },
  ];

  for (const error of errors) {
    test(`is its caller's own when it refuses the prompt: ${error.code}`, async () => {
      const backend = new BackendUnderTest(rig, "moderated");
      rig.gpu.mode = refusing(error);
      for (let call = 0; call < 3; call++) {
        const answer = await backend.chat();
        assert.deepEqual([answer.status, answererOf(answer)], [403, "moderated"]);
        assert.equal(answer.text, JSON.stringify({ error }));
      }
      assert.deepEqual(rig.hits, [3, 0, 0]);
      assert.equal(await backend.state(), CLOSED);
    });
  }

  test("goes to no further tier either when a fallback refuses the prompt", async () => {
    const refusal = refusing(errors[0] as object);
    rig.gpu.mode = ({ index }) => (index === 0 ? { kind: "status", status: 500 } : refusal);
    const answer = await new BackendUnderTest(rig, "before").chat();
    assert.deepEqual([answer.status, answererOf(answer)], [403, "moderated"]);
    assert.deepEqual(rig.hits, [2, 0, 0]);
  });

  test("is the backend's when it refuses the key", async () => {
    const backend = new BackendUnderTest(rig, "denied");
    rig.gpu.mode = refusing({ message: "Key not allowed", code: "invalid_api_key" });
    assert.equal(answererOf(await backend.chat()), "small");
    await rig.waitForState(OPEN, "denied" as Alias);
  });
});
