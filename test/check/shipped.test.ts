import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkFiles } from "../../extproc/check/check.js";
import { RULES } from "../../extproc/check/rules/all.js";
import { rulesFile } from "../../extproc/check/rules-file.js";
import { findRepoRoot } from "../support/repo-root.js";

const root = findRepoRoot();
const file = (name: string) => ({ name, text: readFileSync(join(root, name), "utf8") });

for (const name of ["envoy/minimal.yaml", "envoy/full.yaml", "envoy/service.yaml"]) {
  test(`nothing is found in ${name}`, () => {
    assert.deepEqual(checkFiles([file(name)]).findings, []);
  });
}

test("nothing is found in full.yaml and the settings of its service together", () => {
  assert.deepEqual(checkFiles([file("envoy/full.yaml"), file("envoy/service.yaml")]).findings, []);
});

test("nothing is found in the meshes' examples, which render writes", () => {
  const folders = readdirSync(join(root, "envoy"), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const examples = folders.flatMap(({ name: folder }) =>
    readdirSync(join(root, "envoy", folder)).flatMap((name) =>
      name.endsWith(".yaml") ? [`envoy/${folder}/${name}`] : [],
    ),
  );
  assert.ok(examples.includes("envoy/kubernetes/shared.yaml"));
  for (const name of examples) assert.deepEqual(checkFiles([file(name)]).findings, [], name);
});

test("docs/check.md is up to date; else run: npm run -s schema", () => {
  const { path, update } = rulesFile();
  assert.equal(file(path).text, update(""));
});

test("each setting of Envoy that bites, as docs/operations.md tells them, has its rule", () => {
  const [, table = ""] = file("docs/operations.md").text.split(
    "| setting | with Envoy's default | rule |\n|---|---|---|\n",
  );
  const rows = table.split("\n\n")[0]?.trim().split("\n") ?? [];
  const known = RULES.map(({ id }) => id);
  assert.ok(rows.length > 20, "the table is there");
  for (const row of rows) {
    const named = [...row.matchAll(/\(check\.md#([\w.-]+)\)/g)].map(([, id]) => id);
    assert.ok(named.length > 0 && named.every((id) => known.includes(id ?? "")), row);
  }
});

test("rules have names of their own, in small letters", () => {
  assert.equal(new Set(RULES.map(({ id }) => id)).size, RULES.length);
  assert.deepEqual(
    RULES.filter(({ id }) => !/^[a-z0-9]+([.-][a-z0-9]+)*$/.test(id)),
    [],
  );
});
