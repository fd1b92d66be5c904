import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findRepoRoot } from "../../extproc/root.js";

const MAIN = join(findRepoRoot(), "build", "js", "extproc", "cli", "main.js");

function check(words: readonly string[], input = "") {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, "check", ...words], {
    cwd: findRepoRoot(),
    encoding: "utf8",
    input,
  });
  return { status, stdout, stderr };
}

test("a finding is one line with its place, and errors end it with 1", () => {
  const { status, stdout } = check(["test/check/broken/keys.yaml"]);
  assert.equal(status, 1);
  assert.match(
    stdout,
    /^test\/check\/broken\/keys\.yaml:\d+:\d+ error credential-overwrite — .*; fix: overwrite: true/m,
  );
  assert.match(stdout, /2 errors, 0 warnings/);
});

test("warnings alone end it with 0, and with 1 when they are to count", () => {
  assert.equal(check(["test/check/broken/exposed.yaml"]).status, 0);
  assert.equal(check(["--strict", "test/check/broken/exposed.yaml"]).status, 1);
});

test("--json tells the same to machines, of standard input too", () => {
  const { status, stdout } = check(["--json", "-"], "listen: { grpc: 9002 }\nlog: { level: info }\n");
  assert.equal(status, 1);
  const { findings } = JSON.parse(stdout) as { findings: Record<string, unknown>[] };
  assert.deepEqual(
    findings.map(({ file, line, column, rule, level }) => ({ file, line, column, rule, level })),
    [{ file: "stdin", line: 1, column: 17, rule: "service-settings", level: "error" }],
  );
});

test("an Envoy without the breaker hears what it would need", () => {
  const envoy = "static_resources: { clusters: [{ name: vllm, connect_timeout: 1s }] }";
  const { status, stdout } = check(["-"], envoy);
  assert.equal(status, 0);
  assert.match(stdout, /The breaker is not in these files.*\n.*gate.*\n.*meter.*vllm/);
});

test("what render is given is not taken for Envoy's", () => {
  const policy = "name: chat\nbackends: { gpu: {} }\nchains: { chat: { tiers: [gpu] } }\n";
  assert.match(check(["-"], policy).stderr, /^stdin is what `llm-breaker render` reads/);
  assert.equal(check(["envoy/full.yaml"]).stderr, "");
});

test("a file that can't be read may have the breaker, so nobody is told that it has not", () => {
  const { status, stdout } = check(["-"], "static_resources:\n  clusters: []\n\tlisteners: []\n");
  assert.equal(status, 1);
  assert.match(stdout, /error unreadable/);
  assert.doesNotMatch(stdout, /not in these files/);
});

test("npx runs the command of a fresh build", () => accessSync(MAIN, constants.X_OK));

test("what was asked wrongly ends with 2 and says so", () => {
  for (const [words, message] of [
    [[], /check needs a file/],
    [["no-such.yaml"], /no-such\.yaml can't be read: there is no such file/],
    [["--envoy-version", "new", "envoy/full.yaml"], /--envoy-version must be like 1\.39, got "new"/],
  ] as const) {
    const { status, stderr } = check(words);
    assert.equal(status, 2);
    assert.match(stderr, message);
  }
});
