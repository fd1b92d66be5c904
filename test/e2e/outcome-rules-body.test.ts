import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { completionJson, doneEvent, finishEvent, roleEvent, tokenEvent } from "../support/completion.js";
import type { Mode, Write } from "../support/upstream-mode.js";
import { answererOf, BackendUnderTest, type ExtraBackend, withBackends } from "./support/extra-backends.js";
import { type Rig, startRig } from "./support/rig.js";

const pattern = '"biz_code":"E42"';
const rule = (outcome: string) => ({ breaker: { bodyRules: [{ pattern, outcome }] } });
const backends: Record<string, ExtraBackend> = {
  failure: rule("failure"),
  neutral: rule("neutral"),
  success: rule("success"),
  backpressure: rule("backpressure"),
  fatal: { breaker: { ...rule("engineFatal").breaker, engineFatal: true } },
  ordered: {
    breaker: {
      bodyRules: [
        { pattern: "first", outcome: "neutral" },
        { pattern: "second", outcome: "failure" },
      ],
    },
  },
  inheriting: {},
  "in-place": { breaker: { bodyRules: [{ pattern: "nothing of ours", outcome: "failure" }] } },
  cleared: { breaker: { bodyRules: [] } },
};
const shared = "shared text";
/** Bytes of a body that are looked at. */
const searched = 4096;
const streamed = { stream: true };
let rig: Rig;

before(async () => {
  rig = await startRig({
    concurrency: 1,
    ...withBackends(backends, {
      policy: (policy) => {
        policy.breaker.bodyRules = [{ pattern: shared, outcome: "failure" }];
      },
    }),
  });
});

after(() => rig?.stop());

const under = (alias: string) => BackendUnderTest.afterReset(rig, alias);

const status = (code: number, body: string): Mode => ({ kind: "status", status: code, body });
const events = (...writes: Write[]): Mode => ({ kind: "chunks", writes });
const whole = (before = "") =>
  completionJson("m", before).replace(/}$/, `,"biz_code":"E42","note":"${"x".repeat(9000)}"}`);

/** An answer in one piece whose pattern ends with this byte. */
function endingAt(end: number): string {
  const bare = whole();
  const answer = whole("x".repeat(end - bare.indexOf(pattern) - pattern.length));
  assert.equal(answer.indexOf(pattern) + pattern.length, end);
  return answer;
}

describe("a text in the body of a 200 makes it what the policy says", () => {
  test("a failure in one piece goes to the next tier", async () => {
    const backend = under("failure");
    rig.gpu.mode = status(200, '{"biz_code":"E42","choices":[]}');
    const answer = await backend.chat();
    assert.equal(answererOf(answer), "small");
    assert.equal(answer.headers["x-llm-breaker-tried"], "failure=error");
    assert.equal(await backend.counter("outcome.failure"), 1);
  });

  test("so does one in a stream before its first token, wherever the writes are cut", async () => {
    const backend = under("failure");
    const before = await backend.counter("outcome.failure");
    rig.gpu.mode = events(roleEvent("m"), 'data: {"biz_c', { waitMs: 30 }, 'ode":"E42"}\n\n', doneEvent);
    assert.deepEqual(await backend.chats(1, streamed), ["small"]);
    assert.equal(await backend.counter("outcome.failure"), before + 1);
  });

  test("after the first token the stream goes on, and is filed by the rule", async () => {
    const backend = under("failure");
    const before = await backend.counter("outcome.failure");
    const tail = [`data: {${pattern}}\n\n`, finishEvent("m"), doneEvent];
    rig.gpu.mode = events(roleEvent("m"), tokenEvent("m", "a"), { waitMs: 50 }, ...tail);
    const answer = await backend.chat(streamed);
    assert.equal(answererOf(answer), "failure");
    assert.ok(answer.complete && answer.text.endsWith(tail.join("")));
    assert.equal(await backend.counter("outcome.failure"), before + 1);
  });

  test("looked for in the first 4096 bytes only", async () => {
    const backend = under("failure");
    rig.gpu.mode = status(200, endingAt(searched));
    assert.deepEqual(await backend.chats(1), ["small"]);
    rig.gpu.mode = status(200, endingAt(searched + 1));
    assert.deepEqual(await backend.chats(1), ["failure"]);
  });

  test("compared as it is, case included", async () => {
    rig.reset();
    rig.gpu.mode = status(200, completionJson("m", "a").replace(/}$/, ',"BIZ_CODE":"E42"}'));
    assert.deepEqual(await new BackendUnderTest(rig, "failure").chats(1), ["failure"]);
  });

  test("neutral is the caller's own answer, in one piece and in a stream", async () => {
    const backend = under("neutral");
    const body = '{"biz_code":"E42","choices":[]}';
    rig.gpu.mode = status(200, body);
    const answer = await backend.chat();
    assert.equal(answererOf(answer), "neutral");
    assert.equal(answer.text, body);
    rig.gpu.mode = events(`data: ${body}\n\n`, doneEvent);
    const stream = await backend.chat(streamed);
    assert.equal(answererOf(stream), "neutral");
    assert.equal(stream.text, `data: ${body}\n\n${doneEvent}`);
    assert.equal(await backend.counter("outcome.neutral"), 2);
  });

  test("success speaks for an error that is none", async () => {
    const backend = under("success");
    rig.gpu.mode = events(`data: {"error":{"message":"cached","biz_code":"E42"}}\n\n`, doneEvent);
    assert.deepEqual(await backend.chats(1, streamed), ["success"]);
    assert.equal(await backend.counter("outcome.success"), 1);
  });

  test("backpressure goes to the next tier and is no failure", async () => {
    const backend = under("backpressure");
    rig.gpu.mode = status(200, '{"biz_code":"E42"}');
    assert.deepEqual(await backend.chats(1), ["small"]);
    assert.equal(await backend.counter("outcome.backpressure"), 1);
    assert.equal(await backend.counter("outcome.failure"), 0);
  });

  test("engineFatal opens", async () => {
    const backend = under("fatal");
    rig.gpu.mode = status(200, '{"biz_code":"E42"}');
    assert.deepEqual(await backend.chats(1), ["small"]);
    await backend.waitForCause("ENGINE_FATAL");
  });

  test("of several the first rule has the word, wherever the texts stand", async () => {
    const backend = under("ordered");
    rig.gpu.mode = status(200, '{"a":"second","b":"first"}');
    assert.deepEqual(await backend.chats(1), ["ordered"]);
    rig.gpu.mode = status(200, '{"a":"second"}');
    assert.deepEqual(await backend.chats(1), ["small"]);
  });
});

describe("a text in the body of an error has the word over its status", () => {
  const body = '{"error":{"message":"no","biz_code":"E42"}}';

  for (const outcome of ["neutral", "success"]) {
    test(`a 500 that is ${outcome} is the caller's own answer`, async () => {
      const backend = under(outcome);
      const before = await backend.counter(`outcome.${outcome}`);
      rig.gpu.mode = status(500, body);
      const answer = await backend.chat();
      assert.equal(answer.status, 500);
      assert.equal(answer.text, body);
      assert.equal(await backend.counter(`outcome.${outcome}`), before + 1);
      assert.equal(rig.small.arrivals.length, 0);
    });
  }

  for (const type of ["application/json", "text/plain"]) {
    test(`a 400 of type ${type} that is a failure goes to the next tier`, async () => {
      const backend = under("failure");
      rig.gpu.mode = { kind: "status", status: 400, body, headers: { "content-type": type } };
      const answer = await backend.chat();
      assert.equal(answererOf(answer), "small");
      assert.equal(answer.headers["x-llm-breaker-tried"], "failure=400");
    });
  }
});

test("a backend's own rules stand in place of the shared ones, an empty list too", async () => {
  rig.reset();
  rig.gpu.mode = status(200, completionJson("m", shared));
  assert.deepEqual(await new BackendUnderTest(rig, "inheriting").chats(1), ["small"]);
  assert.deepEqual(await new BackendUnderTest(rig, "in-place").chats(1), ["in-place"]);
  assert.deepEqual(await new BackendUnderTest(rig, "cleared").chats(1), ["cleared"]);
});
