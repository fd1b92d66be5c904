import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { callerOf } from "../../../extproc/callers/caller.js";
import { HeaderCollector } from "../../../extproc/request-headers.js";
import { parseConfig } from "../../../extproc/service-config.js";

const settings = parseConfig({}).callers;
const of = (headers: Record<string, string>) => callerOf(new Map(Object.entries(headers)), settings);

test("a caller is the hash of the first header that names one", () => {
  const hash = createHash("sha256").update("sk-1").digest("base64url");
  assert.equal(of({ "api-key": "sk-1" }), hash);
  assert.equal(of({ "api-key": "sk-2", "x-api-key": "sk-1" }), hash);
  assert.equal(of({ "api-key": "sk-2", "x-api-key": "sk-3", authorization: "Bearer sk-1" }), hash);
});

test("one key has one budget, however its scheme is spelled and whichever header it comes in", () => {
  const spellings = ["Bearer sk-1", "bearer sk-1", "BEARER   sk-1 ", " Bearer\tsk-1", "sk-1"];
  assert.equal(new Set(spellings.map((authorization) => of({ authorization }))).size, 1);
  assert.equal(of({ authorization: "Bearer sk-1" }), of({ "x-api-key": "sk-1" }));
});

test("nobody is named by nothing", () => {
  assert.equal(of({}), undefined);
  assert.equal(of({ authorization: "  ", cookie: "a=b" }), undefined);
});

test("nobody is named by a header that is there twice", () => {
  const headers = new HeaderCollector();
  for (const [name, value] of [
    ["X-Api-Key", "sk-1"],
    ["x-api-key", "other"],
    ["api-key", "sk-1"],
  ] as const) {
    headers.add(name, value);
  }
  assert.equal(callerOf(headers.values, settings), undefined);
  assert.notEqual(of({ "x-api-key": "sk-1,other" }), undefined);
});

test("the header can be another one", () => {
  const named = parseConfig({ callers: { headers: ["x-jwt-sub"] } }).callers;
  const headers = new Map([
    ["authorization", "Bearer a.b.c"],
    ["x-jwt-sub", "ada"],
  ]);
  assert.equal(callerOf(headers, named), createHash("sha256").update("ada").digest("base64url"));
});

test("no value tells the key, or throws", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 4, unit: "binary" }), (key) => {
      const caller = of({ "x-api-key": key });
      if (key.trim() !== "") assert.match(caller ?? "", /^[A-Za-z0-9_-]{43}$/);
    }),
  );
});
