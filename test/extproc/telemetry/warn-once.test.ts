import assert from "node:assert/strict";
import { test } from "node:test";
import { warnOnce } from "../../../extproc/telemetry/warn-once.js";

test("tells each problem once", () => {
  const lines: unknown[] = [];
  const warn = warnOnce({ warn: (line: unknown) => void lines.push(line) });
  for (const problem of ["a", "b", "a"]) warn(problem);
  assert.deepEqual(lines, ["a", "b"]);
});
