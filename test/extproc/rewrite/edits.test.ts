import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { applyEdits } from "../../../extproc/body/splice.js";
import { planEdits } from "../../../extproc/rewrite/edits.js";
import type { RewriteRules } from "../../../extproc/rewrite/rules.js";

function rewrite(text: string, rules: RewriteRules): string {
  const body = Buffer.from(text);
  return applyEdits(body, planEdits(body, rules)).toString();
}

test("changes the model's name and no other byte", () => {
  const rest = ' ,"seed":12345678901234567890, "t":1.0,"e":"\\u00e9\\/","messages":[{"model":"inner"}] }\n';
  assert.equal(rewrite(`{ "model" : "qwen3-32b"${rest}`, { model: "q" }), `{ "model" : "q"${rest}`);
  assert.equal(rewrite(`{"model":"x"${rest}`, { model: '模型-é "q"' }), `{"model":"模型-é \\"q\\""${rest}`);
});

test("changes every occurrence of a duplicate or escaped key", () => {
  assert.equal(
    rewrite('{"model":"a","mod\\u0065l":"b","model":"c"}', { model: "z" }),
    '{"model":"z","mod\\u0065l":"z","model":"z"}',
  );
  assert.equal(
    rewrite('{"max_tokens":9,"max_tokens":1,"prompt":""}', { maxOutputTokens: 5 }),
    '{"max_tokens":5,"max_tokens":1,"prompt":""}',
  );
});

test("lowers a cap that is larger and leaves one that fits", () => {
  const rules = { maxOutputTokens: 1024 };
  assert.equal(rewrite('{"max_tokens":4096}', rules), '{"max_tokens":1024}');
  assert.equal(rewrite('{"max_completion_tokens":1e9}', rules), '{"max_completion_tokens":1024}');
  assert.equal(rewrite('{"max_tokens":"4096"}', rules), '{"max_tokens":1024}');
  assert.equal(rewrite('{"max_tokens":-1}', rules), '{"max_tokens":1024}');
  for (const kept of [
    '{"max_tokens":1024}',
    '{"max_tokens":16.0}',
    '{"max_tokens":"x"}',
    '{"max_tokens":{}}',
  ]) {
    assert.equal(rewrite(kept, rules), kept);
  }
});

test("reads null as no limit unless the other name sets one", () => {
  const rules = { maxOutputTokens: 9 };
  assert.equal(rewrite('{"max_tokens":null}', rules), '{"max_tokens":9}');
  const kept = '{"max_tokens":null,"max_completion_tokens":5}';
  assert.equal(rewrite(kept, rules), kept);
  assert.equal(rewrite('{"max_tokens":5,"max_tokens":null}', rules), '{"max_tokens":5,"max_tokens":9}');
});

test("adds the cap to chats and completions that have none, by the name the model takes", () => {
  assert.equal(rewrite('{"messages":[] }', { maxOutputTokens: 9 }), '{"messages":[],"max_tokens":9 }');
  assert.equal(
    rewrite('{"model":"a","prompt":"x"}', { maxOutputTokens: 9, model: "o3-mini" }),
    '{"model":"o3-mini","prompt":"x","max_completion_tokens":9}',
  );
  assert.equal(
    rewrite('{"prompt":"x","model":"a"}', { maxOutputTokens: 9, model: "b" }),
    '{"prompt":"x","model":"b","max_tokens":9}',
  );
  for (const kept of ['{"input":"x"}', "{}"]) assert.equal(rewrite(kept, { maxOutputTokens: 9 }), kept);
});

test("leaves alone what is no JSON object, has no model, or already fits", () => {
  const rules = { model: "m", maxOutputTokens: 9 };
  for (const kept of ["", "x", "[]", '{"model":"a"', '{"model":7}', '{"model":"m"}', '\ufeff{"model":"a"}']) {
    assert.equal(rewrite(kept, rules), kept);
  }
  assert.deepEqual(planEdits(Buffer.from('{"model":"a","messages":[]}'), {}), []);
});

test("keeps bytes that are no UTF-8", () => {
  const body = Buffer.concat([
    Buffer.from('{"model":"a","x":"'),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}'),
  ]);
  const changed = applyEdits(body, planEdits(body, { model: "bb" }));
  assert.deepEqual(changed, Buffer.concat([Buffer.from('{"model":"bb","x":"'), body.subarray(18)]));
});

test("changes only the wanted values of any object, however it is laid out", () => {
  const ask = fc.oneof(fc.nat(10_000), fc.constant(null), fc.constant(undefined));
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.record({
        model: fc.string(),
        max_tokens: ask,
        max_completion_tokens: ask,
        messages: fc.constant([]),
      }),
      fc.string({ unit: "grapheme", minLength: 1 }),
      fc.integer({ min: 1, max: 10_000 }),
      fc.nat(3),
      (others, own, model, maxOutputTokens, indent) => {
        const text = JSON.stringify({ ...others, ...own }, undefined, indent);
        const before = JSON.parse(text) as Record<string, unknown>;
        const after = JSON.parse(rewrite(text, { model, maxOutputTokens })) as Record<string, unknown>;
        const owned = new Set(["model", "max_tokens", "max_completion_tokens"]);
        for (const key of Object.keys({ ...before, ...after })) {
          if (!owned.has(key)) assert.deepEqual(after[key], before[key]);
        }
        assert.equal(after.model, Buffer.from(model).toString());
        const asked = [after.max_completion_tokens, after.max_tokens].filter(
          (value) => typeof value === "number",
        );
        assert.ok(asked.length > 0 && asked.every((value) => value <= maxOutputTokens));
      },
    ),
    { numRuns: 1000 },
  );
});
