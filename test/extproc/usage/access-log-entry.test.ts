import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type AccessLogEntry, readRequestEnd } from "../../../extproc/usage/access-log-entry.js";
import { usedTokens } from "../../../extproc/usage/used-tokens.js";
import { accessLogEntry, bytesValue } from "../support/access-log.js";

const USAGE = '{"prompt":12,"completion":34,"backend":"gpu"}';
const used = (entry: AccessLogEntry) => {
  const end = readRequestEnd(entry);
  return end && usedTokens(end);
};

test("an answer's usage is what its request is charged", () => {
  const entry = accessLogEntry({ usage: USAGE });
  assert.deepEqual(readRequestEnd(entry), {
    reservation: "r",
    usage: 46,
    status: 200,
    callerLeft: false,
  });
  assert.equal(used(entry), 46);
});

test("a caller who left keeps his debit, whatever is known", () => {
  for (const flag of ["downstream_connection_termination", "downstream_remote_reset"]) {
    assert.equal(used(accessLogEntry({ flags: { [flag]: true } })), undefined);
    assert.equal(used(accessLogEntry({ flags: { [flag]: true }, usage: USAGE })), undefined);
    assert.equal(used(accessLogEntry({ flags: { [flag]: true }, status: 503 })), undefined);
  }
  assert.equal(used(accessLogEntry({ status: 0 })), undefined);
});

test("a request that failed used nothing, one without usage keeps its debit", () => {
  for (const status of [400, 413, 429, 500, 503]) assert.equal(used(accessLogEntry({ status })), 0);
  assert.equal(used(accessLogEntry({ status: 200 })), undefined);
});

test("usage may be long enough for a length of two bytes", () => {
  const usage = `{"prompt":1,"completion":2,"backend":"${"x".repeat(200)}"}`;
  assert.equal(used(accessLogEntry({ usage })), 3);
});

test("requests without a reservation, and ones under way, are nobody's end", () => {
  assert.equal(readRequestEnd({}), undefined);
  assert.equal(readRequestEnd(accessLogEntry({ reservation: "" })), undefined);
  assert.equal(readRequestEnd(accessLogEntry({ type: 4 })), undefined);
  assert.equal(readRequestEnd(accessLogEntry({ type: 5 })), undefined);
  assert.ok(readRequestEnd(accessLogEntry({ type: 6 })));
});

test("usage that is odd is unknown", () => {
  const odd = [
    "",
    "{",
    "[]",
    '{"prompt":-1,"completion":2}',
    '{"prompt":1}',
    '{"prompt":"1","completion":2}',
  ];
  for (const usage of odd) assert.equal(readRequestEnd(accessLogEntry({ usage }))?.usage, undefined);
});

test("no bytes make reading throw", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 1000 }),
    fc.string({ maxLength: 600 }).map((text) => bytesValue(text)),
  );
  fc.assert(
    fc.property(bytes, (value) => {
      const entry = accessLogEntry({});
      Object.assign(entry.common_properties ?? {}, {
        filter_state_objects: { "wasm.llm.breaker.usage": { value } },
      });
      const usage = readRequestEnd(entry)?.usage;
      assert.ok(usage === undefined || usage >= 0);
    }),
  );
});
