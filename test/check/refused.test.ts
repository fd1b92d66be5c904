import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findRepoRoot } from "../../extproc/root.js";
import { loadGetEnvoy } from "../support/get-envoy.js";
import { CLUSTER_CHANGES } from "./support/cluster-changes.js";
import { replaced, rulesFound, shipped } from "./support/found.js";

const MINIMAL = shipped("envoy/minimal.yaml").text;
const CODEC =
  /( {8}- name: llm\.breaker\.meter\n[\s\S]*?)( {8}- name: envoy\.filters\.http\.upstream_codec\n.*\n)/;

/** What rules say that Envoy refuses, it does. */
const REFUSED: readonly (readonly [rule: string, text: string])[] = [
  ["codec-not-last", replaced(MINIMAL, CODEC, "$2$1")],
  ["logical-dns-sink", change("logical-dns-sink")],
  ["merge-key", replaced(MINIMAL, "    connect_timeout: 1s\n", "    <<: { connect_timeout: 1s }\n")],
  [
    "plugin-unknown",
    replaced(MINIMAL, "route: { cluster: gpu,", "route: { cluster_specifier_plugin: llm.breaker,"),
  ],
];

function change(rule: string): string {
  const changes = CLUSTER_CHANGES.find((each) => each.rule === rule)?.changes ?? [];
  return changes.reduce((text, [from, to]) => replaced(text, from, to), MINIMAL);
}

for (const [rule, text] of REFUSED) {
  test(`${rule}: a real Envoy refuses the file`, { concurrency: true }, async () => {
    assert.ok(rulesFound([{ name: "envoy.yaml", text }]).includes(rule));
    assert.match(await validate(text), /error initializing config/);
  });
}

test("what is refused is the change, not the file", async () => {
  assert.match(await validate(MINIMAL), /configuration '.*' OK/);
});

async function validate(text: string): Promise<string> {
  const { envoyBinary } = await loadGetEnvoy();
  const envoy = await envoyBinary();
  const folder = mkdtempSync(join(tmpdir(), "llm-breaker-check-"));
  const file = join(folder, "envoy.yaml");
  writeFileSync(file, text);
  return new Promise((resolve) => {
    execFile(envoy, ["-c", file, "--mode", "validate"], { cwd: findRepoRoot() }, (_, stdout, stderr) => {
      rmSync(folder, { recursive: true });
      resolve(stdout + stderr);
    });
  });
}
