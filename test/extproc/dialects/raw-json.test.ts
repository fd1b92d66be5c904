import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { printJson, RawJson, rawElements, rawMember } from "../../../extproc/dialects/raw-json.js";

test("puts raw JSON in as it is", () => {
  const value = {
    a: new RawJson("9007199254740993"),
    b: [undefined, new RawJson('{"x": 1e400}')],
    c: undefined,
  };
  assert.equal(printJson(value), '{"a":9007199254740993,"b":[null,{"x": 1e400}]}');
});

test("prints all else as JSON.stringify does", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.equal(printJson(value), JSON.stringify(value))));
});

test("takes members and elements out as bytes", () => {
  const text = (bytes: Buffer | undefined) => bytes?.toString();
  const object = Buffer.from('{"a": [1, {"b":2}] ,"a":[ 9007199254740993 , "x"]}');
  assert.deepEqual(rawElements(rawMember(object, "a")).map(text), ["9007199254740993", '"x"']);
  assert.equal(rawMember(object, "b"), undefined);
  assert.equal(rawMember(Buffer.from("[1]"), "a"), undefined);
  assert.equal(rawMember(undefined, "a"), undefined);
  assert.deepEqual(rawElements(Buffer.from("{}")), []);
});
