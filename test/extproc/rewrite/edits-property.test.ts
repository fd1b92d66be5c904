import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rewriteBody } from "../../../extproc/rewrite/edits.js";
import { readRules } from "../../../extproc/rewrite/rules.js";
import { blanks, jsonValue, keyLiteral } from "../support/json-texts.js";

const NAMES = [
  "model",
  "messages",
  "prompt",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "tools",
  "tool_choice",
  "seed",
  "random_seed",
  "logit_bias",
];

/** `tools` stands for more than its own name. */
const REMOVABLE = NAMES.filter((name) => name !== "tools");

const ask = fc.constantFrom("1", "16", "1e3", "4096", "1e400", "-1", "null", '"4096"', "0.5");
const values: ReadonlyMap<string, fc.Arbitrary<string>> = new Map(
  Object.entries({
    model: fc.oneof(
      fc.string().map((text) => JSON.stringify(text)),
      jsonValue,
    ),
    stream: fc.constantFrom("true", "false"),
    max_tokens: ask,
    max_completion_tokens: ask,
    tools: fc.oneof(fc.constant('[ {"type":"web_search"},{"type":"function"} ]'), jsonValue),
  }),
);

/** One member as it is written, and the blanks and comma behind it. */
interface Written {
  key: string;
  literal: string;
  between: string;
  value: string;
  after: string;
  before: string;
}

const member: fc.Arbitrary<Written> = fc
  .oneof({ weight: 3, arbitrary: fc.constantFrom(...NAMES) }, { weight: 1, arbitrary: fc.string() })
  .chain((key) =>
    fc.record({
      key: fc.constant(key),
      literal: keyLiteral(key),
      between: fc.tuple(blanks, blanks).map(([left, right]) => `${left}:${right}`),
      value: values.get(key) ?? jsonValue,
      after: blanks,
      before: blanks,
    }),
  );
const members = fc.array(member, { maxLength: 8 });

const textOf = ({ literal, between, value }: Written) => `${literal}${between}${value}`;

function print(all: readonly Written[]): string {
  return `\n{${all.map((one) => `${one.before}${textOf(one)}${one.after}`).join(",")}} `;
}

function rewrite(text: string, metadata: Record<string, string>): string {
  const rules = readRules(new Map(Object.entries(metadata))).usual;
  const rewritten = rewriteBody(Buffer.from(text), rules, "/v1/chat/completions");
  assert.ok(rewritten, "a JSON object is always read");
  return rewritten.toString();
}

test("a new model name and fields taken out change these bytes and no other", () => {
  fc.assert(
    fc.property(members, fc.string({ minLength: 1 }), fc.subarray(REMOVABLE), (all, model, removed) => {
      const kept = all.filter(({ key }) => !removed.includes(key));
      // What stands behind a member stays with it, unless nothing follows.
      const pieces = kept.map((one, index) => {
        const isRenamed = one.key === "model" && one.value.startsWith('"');
        const text = textOf(isRenamed ? { ...one, value: JSON.stringify(model) } : one);
        const next = all[all.indexOf(one) + 1];
        return index === kept.length - 1 ? text : `${text}${one.after},${next?.before}`;
      });
      const wanted = `\n{${all[0]?.before ?? ""}${pieces.join("")}${all.at(-1)?.after ?? ""}} `;
      assert.equal(rewrite(print(all), { model, remove: removed.join(",") }), wanted);
    }),
    { numRuns: 2000 },
  );
});

const metadata = fc.record(
  {
    model: fc.string({ minLength: 1 }),
    maxOutputTokens: fc.constantFrom("1", "64", "1024"),
    outputTokensField: fc.constantFrom("max_tokens", "max_completion_tokens"),
    remove: fc.constantFrom("web_search", "tools", "logit_bias, seed"),
    rename: fc.constant("seed=random_seed"),
    includeUsage: fc.constant("true"),
  },
  { requiredKeys: [] },
);

test("with any rules what is not named stays byte for byte and in order, and the caps hold", () => {
  fc.assert(
    fc.property(members, metadata, (all, rules) => {
      const text = print(all);
      const result = rewrite(text, rules);
      const others = all.filter(({ key }) => !NAMES.includes(key) || key === "messages" || key === "prompt");
      let from = 0;
      for (const one of others) {
        from = result.indexOf(textOf(one), from) + textOf(one).length;
        assert.ok(from >= textOf(one).length, `${textOf(one)} is missing in ${result}`);
      }
      const before = JSON.parse(text) as Record<string, unknown>;
      const after = JSON.parse(result) as Record<string, unknown>;
      for (const { key } of others) assert.deepEqual(after[key], before[key]);
      if (rules.model !== undefined && typeof before.model === "string") {
        assert.equal(after.model, JSON.parse(JSON.stringify(rules.model)));
      }
      const cap = Number(rules.maxOutputTokens ?? Number.POSITIVE_INFINITY);
      for (const asked of [after.max_tokens, after.max_completion_tokens]) {
        if (asked !== undefined && asked !== null) assert.ok(Number(asked) <= cap, result);
      }
      assert.equal(rewrite(result, rules), result, "what fits is left alone");
    }),
    { numRuns: 2000 },
  );
});

test("never throws, whatever the bytes", () => {
  const rules = readRules(
    new Map([
      ["model", "m"],
      ["remove", "tools,web_search"],
      ["includeUsage", "true"],
    ]),
  ).usual;
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom("{", '{"tools":[', '{"stream":true,'),
      (noise, start) => {
        rewriteBody(Buffer.concat([Buffer.from(start), noise]), rules, "/");
      },
    ),
    { numRuns: 2000 },
  );
});
