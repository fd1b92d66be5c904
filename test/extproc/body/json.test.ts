import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseObject, toPythonJson } from "../../../extproc/body/json.js";

test("spells JSON as Python's json.dumps does", () => {
  assert.equal(toPythonJson({ a: [1, "x,y:z", {}], b: [] }), '{"a": [1, "x,y:z", {}], "b": []}');
  assert.equal(toPythonJson('quote " and \\" and \\'), '"quote \\" and \\\\\\" and \\\\"');
  assert.equal(toPythonJson(undefined), "null");
});

test("adds nothing but blanks outside of strings", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(JSON.stringify(JSON.parse(toPythonJson(value))), JSON.stringify(value));
    }),
  );
});

test("stays linear for nested and for wide values", () => {
  let nested: unknown = "x".repeat(100_000);
  for (let depth = 0; depth < 2000; depth++) nested = [nested, ",:"];
  assert.ok(toPythonJson(nested).length < 150_000);
});

test("takes only objects for bodies", () => {
  for (const text of ["", "[]", "1", "null", '"x"', "{", '{"a":1}}']) {
    assert.equal(parseObject(Buffer.from(text)), undefined, text);
  }
  assert.deepEqual(parseObject(Buffer.from(' {"a":1} ')), { a: 1 });
});
