import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readFacts } from "../../../extproc/body/facts.js";
import { namesTwoModels } from "../../../extproc/body/model-keys.js";

const two = (text: string): boolean => namesTwoModels(Buffer.from(text));

test("tells two models, however their keys are spelt", () => {
  assert.ok(two('{"model":"a","messages":[],"model":"b"}'));
  assert.ok(two('{"model":"a","mod\\u0065l":"b"}'));
  assert.ok(two('{"MODEL":"b","model":"a"}'));
  assert.ok(two('{"model":"a","model":null}'));
  assert.ok(two('{"model":"a","model":"a","model":"b"}'));
});

test("minds no equal names, none that name nothing, and no nested ones", () => {
  assert.ok(!two('{"model":"a/b","Model":"\\u0061\\/b"}'));
  assert.ok(!two('{"model":null,"model":[1]}'));
  assert.ok(!two('{"model":"a","x":{"model":"b"},"messages":[{"model":"c"}],"models":"d"}'));
  for (const text of ["", "{}", "[]", '{"model":"a"', '{"model":"a","model":"b"'])
    assert.ok(!two(text), text);
});

test("does as its definition says, and never throws", () => {
  const key = fc.constantFrom("model", "Model", "mod\\u0065l", "models", "n");
  const value = fc.oneof(fc.constantFrom('"a"', '"\\u0061"', '"b"', "null", '{"model":"b"}'), fc.json());
  fc.assert(
    fc.property(fc.array(fc.tuple(key, value), { maxLength: 6 }), (members) => {
      const text = `{${members.map(([name, each]) => `"${name}": ${each}`).join(" ,")}}`;
      const names = members
        .filter(([name]) => /^(model|Model|mod\\u0065l)$/.test(name))
        .map(([, each]) => JSON.parse(each))
        .map((each) => (typeof each === "string" ? each : undefined));
      assert.equal(two(text), new Set(names).size > 1, text);
    }),
  );
  fc.assert(fc.property(fc.uint8Array(), (bytes) => typeof namesTwoModels(Buffer.from(bytes)) === "boolean"));
});

test("a body that the gate could not read, and that names two models, names none", () => {
  const body = Buffer.from('{"model":"a","model":"b"}');
  assert.equal(readFacts("/v1/completions", body, true)?.model, undefined);
  assert.equal(readFacts("/v1/completions", body, false)?.model, "b");
});
