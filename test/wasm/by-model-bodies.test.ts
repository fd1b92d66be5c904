import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AskedWorker } from "./asked-worker.js";
import { World } from "./host/world.js";
import type { Exchange } from "./worker.js";

const policy = JSON.stringify({
  name: "bodies",
  backends: { a: {}, b: {}, rest: {} },
  chains: {
    a: { tiers: ["a"], models: ["a"] },
    b: { tiers: ["b"], models: ["b"] },
    rest: { tiers: ["rest"] },
  },
  defaultChain: "rest",
});

const ask = (worker: AskedWorker, ...body: Buffer[]): Exchange => worker.send({ body });

/** Where a request went, or why it did not. */
const fate = ({ attempts, localReply }: Exchange): string =>
  attempts[0]?.cluster ?? localReply?.details ?? "lost";

/** Spellings of the key in JSON, and whether every server reads them as `model`. */
const spellings = { model: true, "mod\\u0065l": true, "\\u006D\\u006fdel": true, Model: false, MODEL: false };
const other = fc.constantFrom("models", "mode", "n", "messages", "mod\\u0000el", "model\\u0000", "");
const key = fc.oneof(fc.constantFrom(...Object.keys(spellings)), other);
const name = fc.constantFrom('"a"', '"\\u0061"', '"b"', '"c"', '""');
const value = fc.oneof(
  name,
  fc.constantFrom("null", "7", '{"model":"b"}', '["a"]', '"\\",\\"model\\":\\"b"'),
  fc.json(),
);
const blank = fc.constantFrom("", " ", "\r\n\t");

type Member = readonly [key: string, value: string];

function write(members: readonly Member[], gap: string): string {
  return `${gap}{${members.map(([each, given]) => `${gap}"${each}"${gap}:${gap}${given}`).join(",")}${gap}}`;
}

/** By the definition in docs/configuration.md. */
function expectedFate(members: readonly Member[]): string {
  const models = members.filter(([each]) => each in spellings);
  const texts = models.map(([, given]) => {
    const parsed: unknown = JSON.parse(given);
    return typeof parsed === "string" ? parsed : undefined;
  });
  if (new Set(texts).size > 1) return "llm_breaker_ambiguous_model";
  const isNamed = models.some(([each]) => spellings[each as keyof typeof spellings]);
  const [text] = texts;
  return isNamed && (text === "a" || text === "b") ? text : "rest";
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = at.map((each) => each % (bytes.length + 1)).sort((one, two) => one - two);
  return [0, ...places].map((start, index) => bytes.subarray(start, [...places, bytes.length][index]));
}

test("whatever a body's keys, their order and spelling, and however it comes, its chain is the documented one", () => {
  const worker = new AskedWorker(new World(), policy);
  const members = fc.array(fc.tuple(key, value), { maxLength: 6 });
  const seen = new Set<string>();
  fc.assert(
    fc.property(members, blank, fc.array(fc.nat(), { maxLength: 4 }), (given, gap, cuts) => {
      const expected = expectedFate(given);
      seen.add(expected);
      assert.equal(fate(ask(worker, ...cut(Buffer.from(write(given, gap)), cuts))), expected);
    }),
    { numRuns: 2_000 },
  );
  assert.deepEqual([...seen].sort(), ["a", "b", "llm_breaker_ambiguous_model", "rest"]);
});

test("arbitrary bytes are always answered, and a chain is chosen only by JSON", () => {
  const worker = new AskedWorker(new World(), policy);
  const spice = fc.constantFrom(...'{}[]":,\\ \0amodelb\u00ff').map((each) => Buffer.from(each, "latin1"));
  const noise = fc.array(
    fc.oneof(spice, fc.constantFrom(Buffer.from('"model":"a"'), Buffer.from('"model":'))),
    {
      minLength: 1,
      maxLength: 40,
    },
  );
  fc.assert(
    fc.property(noise, (parts) => {
      const body = Buffer.concat(parts);
      const given = fate(ask(worker, body));
      assert.ok(["a", "b", "rest", "llm_breaker_ambiguous_model"].includes(given), given);
      if (given === "a" || given === "b")
        assert.match(body.toString("latin1"), /^[\s\xef\xbb\xbf]*\{.*"model"/s);
    }),
    { numRuns: 2_000 },
  );
});
