import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { ConfigError } from "../../../extproc/config/errors.js";
import { readHeadersFile } from "../../../extproc/config/headers-file.js";

const FIELD = ["traces", "headersFile"];
const file = join(mkdtempSync(join(tmpdir(), "llm-breaker-headers-")), "headers");

function read(text: string | Buffer) {
  writeFileSync(file, text);
  return readHeadersFile(file, FIELD);
}

test("reads headers line by line", () => {
  assert.deepEqual(read("# for the collector\nAuthorization: Bearer a:b\r\n\nx-team:  42 \n"), {
    authorization: "Bearer a:b",
    "x-team": "42",
  });
});

test("names field and line of what is none, and never its text", () => {
  for (const line of [
    "SECRET",
    ": SECRET",
    "x-key:",
    "x key: SECRET",
    "x-key: SECRET\u0001",
    "x-key: SECRET\u20ac",
  ]) {
    assert.throws(
      () => read(`x-good: 1\n${line}\n`),
      (cause: Error) => {
        assert.match(cause.message, /traces\.headersFile line 2 must be "name: value"/);
        assert.doesNotMatch(cause.message, /SECRET/);
        return cause instanceof ConfigError;
      },
    );
  }
  assert.throws(
    () => readHeadersFile("/nowhere", FIELD),
    /traces\.headersFile must be a file that can be read: there is no such file/,
  );
});

test("any file is headers or a ConfigError", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      ),
      (text) => {
        try {
          for (const value of Object.values(read(text))) assert.match(value, /^[\t\x20-\x7e]+$/);
        } catch (cause) {
          assert.ok(cause instanceof ConfigError);
        }
      },
    ),
    { numRuns: 50 },
  );
});
