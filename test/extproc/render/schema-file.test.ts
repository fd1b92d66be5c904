import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { renderSchemaFile } from "../../../extproc/render/schema-file.js";
import { findRepoRoot } from "../../../extproc/root.js";

const { path, update } = renderSchemaFile();
const isValid = new Ajv2020({ allErrors: true }).compile(JSON.parse(update()));

test("the schema for editors is up to date; else run: npm run -s schema", () => {
  assert.equal(readFileSync(join(findRepoRoot(), path), "utf8"), update());
});

test("it takes the README's policy, and finds a key that is misspelt", () => {
  const readme = readFileSync(join(findRepoRoot(), "README.md"), "utf8");
  const [, policy = ""] = /```yaml\n( *name: chat\n[^`]*)```/.exec(readme) ?? [];
  const given: { backends: object } = parse(policy.replaceAll(/^ {3}/gm, ""));
  assert.ok(isValid(given), JSON.stringify(isValid.errors));
  assert.ok(!isValid({ ...given, backends: { ...given.backends, spare: { ulr: "http://h" } } }));
});
