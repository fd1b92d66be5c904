import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { apiFile, describeApi } from "../../../extproc/control/openapi.js";
import { findRepoRoot } from "../../../extproc/root.js";
import { operations } from "../support/api-checker.js";

test("the description in docs/ is up to date; else run: npm run -s schema", () => {
  const { path, update } = apiFile();
  assert.equal(readFileSync(join(findRepoRoot(), path), "utf8"), update());
});

test("describes every operation, each with what it is for", () => {
  assert.deepEqual(operations().sort(), [
    "delete /v1/backends/{name}/override",
    "get /v1/backends",
    "get /v1/backends/{name}",
    "get /v1/chains",
    "get /v1/events",
    "get /v1/gateways",
    "get /v1/peers",
    "get /v1/transitions",
    "get /v1/trends",
    "post /v1/backends/{name}/close",
    "post /v1/backends/{name}/disable",
    "post /v1/backends/{name}/open",
    "post /v1/backends/{name}/reset",
    "post /v1/dry-run",
  ]);
  const { paths } = describeApi() as { paths: Record<string, Record<string, { summary?: string }>> };
  const silent = Object.values(paths).flatMap((verbs) =>
    Object.values(verbs).filter(({ summary }) => !summary),
  );
  assert.deepEqual(silent, []);
});
