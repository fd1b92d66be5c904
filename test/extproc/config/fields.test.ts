import assert from "node:assert/strict";
import { test } from "node:test";
import type { z } from "zod";
import {
  address,
  count,
  duration,
  flag,
  globs,
  headerName,
  ratio,
  text,
  url,
} from "../../../extproc/config/fields.js";

/** What each text is read as; undefined for what is refused. */
function read(field: z.ZodType, ...given: unknown[]): unknown[] {
  return given.map((value) => {
    const parsed = field.safeParse(value);
    if (!parsed.success) assert.equal(parsed.error.issues.length, 1, "one fault, told once");
    return parsed.data;
  });
}

const refused = (length: number) => Array<undefined>(length).fill(undefined);

test("a duration is a number with its unit, in milliseconds", () => {
  assert.deepEqual(read(duration, "150ms", "1.5s", "2m", "1h", "0s"), [150, 1500, 120_000, 3_600_000, 0]);
  const wrong = [
    "10",
    10,
    "",
    "-1s",
    "1 s",
    "1S",
    "1e3s",
    ".5s",
    "1d",
    "1s2m",
    `${"9".repeat(400)}s`,
    null,
    ["1s"],
  ];
  assert.deepEqual(read(duration, ...wrong), refused(wrong.length));
});

test("a count is a whole number within its bounds", () => {
  assert.deepEqual(read(count(1, 5), 1, 5), [1, 5]);
  const wrong = [0, 6, 1.5, "3", Number.NaN, Number.POSITIVE_INFINITY, null];
  assert.deepEqual(read(count(1, 5), ...wrong), refused(wrong.length));
  assert.deepEqual(read(count(0), 2 ** 53), [undefined], "what a number can't hold exactly");
  assert.deepEqual(read(ratio(0.1, 1), 0.1, 0.8, 1, 0, 1.1, "0.5"), [0.1, 0.8, 1, ...refused(3)]);
});

test("an address has a host and a port that exists", () => {
  const right = ["127.0.0.1:0", "localhost:65535", "[::1]:9002", "a-b.example:1"];
  assert.deepEqual(read(address, ...right), right);
  const wrong = ["localhost", ":80", "::1:80", "a:65536", "a:-1", "a b:1", "http://a:1", 9002];
  assert.deepEqual(read(address, ...wrong), refused(wrong.length));
});

test("a URL has one of its schemes and no blanks", () => {
  const right = ["redis://127.0.0.1:6379", "rediss://user:pass@host/0"];
  assert.deepEqual(read(url("redis", "rediss"), ...right), right);
  const wrong = [
    "http://host",
    "redis:host",
    "redis://",
    "redis://a b",
    "redis://host:99999",
    "xredis://host",
    1,
  ];
  assert.deepEqual(read(url("redis", "rediss"), ...wrong), refused(wrong.length));
});

test("header names are in lower case, lists have entries, texts say something", () => {
  assert.deepEqual(read(headerName, "x-api-key", "X-Api-Key", ":path", "a b", "", "a\n"), [
    "x-api-key",
    ...refused(5),
  ]);
  assert.deepEqual(read(globs, ["qwen3-*"], [], "qwen3-*", [""]), [["qwen3-*"], ...refused(3)]);
  assert.deepEqual(read(text, "a", "", "x".repeat(4097), 1), ["a", ...refused(3)]);
  assert.deepEqual(read(flag, true, false, "true", 1), [true, false, ...refused(2)]);
});
