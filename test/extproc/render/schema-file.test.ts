import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { renderSchemaFile, renderTableFile } from "../../../extproc/render/schema-file.js";
import { findRepoRoot } from "../../../extproc/root.js";

const schema = renderSchemaFile();
const isValid = new Ajv2020({ allErrors: true }).compile(JSON.parse(schema.update("")));

test("the schema for editors, and the table for people, are up to date; else run: npm run -s schema", () => {
  for (const { path, update } of [schema, renderTableFile()]) {
    const present = readFileSync(join(findRepoRoot(), path), "utf8");
    assert.equal(present, update(present));
  }
});

test("the table has every key of a backend", () => {
  const table = renderTableFile().update("<!-- policy.yaml -->\n<!-- /policy.yaml -->");
  for (const key of ["url", "model", "keyFile", "breaker"]) {
    assert.match(table, new RegExp(`^\\| \`backends\\.<alias>\\.${key}\` \\|`, "m"));
  }
});

test("it takes the README's policy, and finds a key that is misspelt", () => {
  const readme = readFileSync(join(findRepoRoot(), "README.md"), "utf8");
  const [, policy = ""] = /```yaml\n( *name: chat\n[^`]*)```/.exec(readme) ?? [];
  const given: { backends: object } = parse(policy.replaceAll(/^ {3}/gm, ""));
  assert.ok(isValid(given), JSON.stringify(isValid.errors));
  assert.ok(!isValid({ ...given, backends: { ...given.backends, spare: { ulr: "http://h" } } }));
});
