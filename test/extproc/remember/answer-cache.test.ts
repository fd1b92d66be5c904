import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { callerSettings } from "../../../extproc/callers/settings.js";
import { AnswerCache } from "../../../extproc/remember/answer-cache.js";
import { cacheSettings } from "../../../extproc/remember/settings.js";
import { answerOfText } from "../../../extproc/reply/answer.js";
import type { Exchange } from "../../../extproc/role.js";

const callers = callerSettings.parse({});
const answer = answerOfText("m", "hello");

function exchange(headers: Record<string, string>, path = "/v1/chat/completions"): Exchange {
  return { headers: new Map(Object.entries({ ":path": path, ...headers })), attributes: new Map() };
}

const alice = exchange({ authorization: "Bearer alice" });

test("the same caller's same request is recalled, whatever the form it asks in", () => {
  const cache = new AnswerCache(cacheSettings.parse({}), callers);
  cache.remember(alice, { model: "m", messages: [{ role: "user", content: "hi" }], stream: true }, answer);
  const again = { messages: [{ content: "hi", role: "user" }], model: "m", stream_options: {} };
  assert.deepEqual(cache.recall(alice, again)?.answer, answer);
});

test("knows whether anything was ever remembered", () => {
  const cache = new AnswerCache(cacheSettings.parse({}), callers);
  cache.remember(exchange({}), { model: "m" }, answer);
  assert.equal(cache.isUnused, true);
  cache.remember(alice, { model: "m" }, answer);
  assert.equal(cache.isUnused, false);
});

test("nothing but an equal request of the same caller ever recalls an answer", () => {
  const request = fc.dictionary(fc.constantFrom("model", "messages", "user", "__proto__"), fc.jsonValue());
  const caller = fc.constantFrom("alice", "bob", "Bearer alice", "");
  const path = fc.constantFrom("/v1/chat/completions", "/v1/completions");
  const asked = fc.tuple(request, caller, path);
  const property = fc.property(asked, asked, ([one, who, where], [other, whoElse, whereElse]) => {
    const cache = new AnswerCache(cacheSettings.parse({}), callers);
    cache.remember(exchange({ authorization: who }, where), one, answer);
    const recalled = cache.recall(exchange({ authorization: whoElse }, whereElse), other);
    if (recalled === undefined) return;
    assert.equal(whoElse.replace("Bearer ", ""), who.replace("Bearer ", ""));
    assert.notEqual(who, "");
    assert.equal(whereElse, where);
    assert.deepEqual(JSON.parse(JSON.stringify(other)), JSON.parse(JSON.stringify(one)));
  });
  fc.assert(property, { numRuns: 2000 });
});

test("a number that can't be told from another is in no remembered request", () => {
  for (const seed of ["9007199254740993", "-9007199254740993", "1e999"]) {
    const cache = new AnswerCache(cacheSettings.parse({}), callers);
    cache.remember(alice, JSON.parse(`{"seed":${seed}}`), answer);
    for (const other of [seed, "9007199254740992", "null"])
      assert.equal(cache.recall(alice, JSON.parse(`{"seed":${other}}`)), undefined);
  }
});

test("a request that names no caller is neither remembered nor recalled", () => {
  const cache = new AnswerCache(cacheSettings.parse({}), callers);
  assert.equal(cache.hasCaller(exchange({})), false);
  cache.remember(exchange({}), { model: "m" }, answer);
  assert.equal(cache.recall(exchange({}), { model: "m" }), undefined);
});

test("answers grow old, and are forgotten", () => {
  let now = 1000;
  const cache = new AnswerCache(cacheSettings.parse({ maxAge: "10s" }), callers, () => now);
  cache.remember(alice, { model: "m" }, answer);
  now += 9_000;
  assert.equal(cache.recall(alice, { model: "m" })?.ageSeconds, 9);
  now += 2_000;
  assert.equal(cache.recall(alice, { model: "m" }), undefined);
});

test("memory is bounded: the least recently used answers go first", () => {
  const cache = new AnswerCache(cacheSettings.parse({ maxBytes: 100_000 }), callers);
  const long = answerOfText("m", "x".repeat(10_000));
  for (let index = 0; index < 100; index++) cache.remember(alice, { index }, long);
  const recalled = Array.from({ length: 100 }, (_, index) => cache.recall(alice, { index }));
  assert.equal(recalled.filter(Boolean).length, 4);
  assert.ok(recalled[99]);
});

test("many empty calls of tools take room, too", () => {
  const cache = new AnswerCache(cacheSettings.parse({ maxBytes: 100_000 }), callers);
  const toolCalls = Array.from({ length: 1000 }, () => ({ id: "", name: "", arguments: "" }));
  cache.remember(alice, { model: "m" }, { ...answer, toolCalls });
  assert.equal(cache.recall(alice, { model: "m" }), undefined);
});

test("with no memory given nothing is remembered", () => {
  const cache = new AnswerCache(cacheSettings.parse({ maxBytes: 0 }), callers);
  cache.remember(alice, { model: "m" }, answer);
  assert.equal(cache.isOn, false);
  assert.equal(cache.recall(alice, { model: "m" }), undefined);
});

test("a body that nests deeper than can be printed is passed over", () => {
  const cache = new AnswerCache(cacheSettings.parse({}), callers);
  const body = { nested: JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`) };
  cache.remember(alice, body, answer);
  assert.equal(cache.recall(alice, body), undefined);
});
