import assert from "node:assert/strict";
import { test } from "node:test";
import { readTap } from "./tap.js";

test("passed, failed, skipped and to-do tests are told apart, and only top-level ones count", () => {
  const report = [
    "TAP version 13",
    "# Subtest: one",
    "    ok 1 - below one",
    "ok 1 - one",
    "not ok 2 - two",
    "ok 3 - three # SKIP",
    "ok 4 - four # TODO later",
    "1..4",
  ];
  assert.deepEqual(readTap(report), [
    { name: "one", passed: true },
    { name: "two", passed: false },
    { name: "three", passed: false },
    { name: "four", passed: false },
  ]);
});
