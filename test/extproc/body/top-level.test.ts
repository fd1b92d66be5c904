import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { scanElements, scanTopLevel } from "../../../extproc/body/top-level.js";

function members(text: string): [string, string][] | undefined {
  const bytes = Buffer.from(text);
  return scanTopLevel(bytes)?.members.map(({ key, valueStart, valueEnd }) => [
    key,
    bytes.toString("utf8", valueStart, valueEnd),
  ]);
}

test("finds the members of the outermost object only", () => {
  assert.deepEqual(members('\n{ "a" : 1 , "b":{"a":[{"a":"}"}]},"c":"x\\"y\\\\" ,"a":null}\t'), [
    ["a", "1"],
    ["b", '{"a":[{"a":"}"}]}'],
    ["c", '"x\\"y\\\\"'],
    ["a", "null"],
  ]);
  assert.deepEqual(members("{}"), []);
});

test("reads keys that are spelled with escapes", () => {
  assert.deepEqual(members('{"mod\\u0065l":"x"}'), [["model", '"x"']]);
});

test("tells where a key's bytes are", () => {
  const bytes = Buffer.from('{ "a" : 1 ,\n"mod\\u0065l":[] }');
  const keys = scanTopLevel(bytes)?.members.map((member) =>
    bytes.toString("utf8", member.keyStart, member.keyEnd),
  );
  assert.deepEqual(keys, ['"a"', '"mod\\u0065l"']);
});

function elements(text: string): string[] | undefined {
  const bytes = Buffer.from(text);
  return scanElements(bytes)?.map(({ start, end }) => bytes.toString("utf8", start, end));
}

test("finds the elements of the outermost array only", () => {
  assert.deepEqual(elements(' [ 1 ,"a,]", {"b":[2,3]} , [ ],null ]\n'), [
    "1",
    '"a,]"',
    '{"b":[2,3]}',
    "[ ]",
    "null",
  ]);
  assert.deepEqual(elements("[]"), []);
  for (const broken of ["", "{}", "[", "[1", "[1,", "[1,]", "[,]", "[1 2]", "[1]]", '["a]', "[01]"]) {
    assert.equal(elements(broken), undefined, broken);
  }
});

test("agrees with JSON.parse on every array", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.nat(4), (value, indent) => {
      const found = elements(JSON.stringify(value, undefined, indent));
      assert.equal(JSON.stringify(found?.map((text) => JSON.parse(text))), JSON.stringify(value));
    }),
  );
});

test("refuses what is no single JSON object", () => {
  const broken = [
    "",
    " ",
    "[]",
    "1",
    '"a"',
    "{",
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,}',
    '{"a" 1}',
    "{a:1}",
    "{,}",
  ];
  const more = ['{"a":01}', '{"a":+1}', '{"a":nul}', '{"a":"x}', '{"a":1}{}', '\ufeff{"a":1}', '{"\\x":1}'];
  for (const text of [...broken, ...more, '{"a":1 "b":2}']) {
    assert.equal(members(text), undefined, text);
  }
});

test("agrees with JSON.parse on every object", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(4), (value, indent) => {
      const found = members(JSON.stringify(value, undefined, indent));
      const wanted = Object.entries(value).map(([key, one]) => [key, JSON.stringify(one)]);
      assert.deepEqual(
        found?.map(([key, text]) => [key, JSON.stringify(JSON.parse(text))]),
        wanted,
      );
    }),
  );
});

test("never throws and never reads past the end, whatever the bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
      const bytes = Buffer.concat([Buffer.from("{"), noise]);
      for (const member of scanTopLevel(bytes)?.members ?? []) assert.ok(member.valueEnd <= bytes.length);
    }),
    { numRuns: 2000 },
  );
});

test("scans a megabyte of backslashes and of brackets in linear time", () => {
  const startedAt = performance.now();
  assert.equal(members(`{"a":"${"\\".repeat(1_000_001)}`), undefined);
  assert.equal(members(`{"a":${"[".repeat(1_000_000)}`), undefined);
  assert.equal(members(`{"a":"${'\\"'.repeat(500_000)}"}`)?.length, 1);
  assert.ok(performance.now() - startedAt < 2000);
});
