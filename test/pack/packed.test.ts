import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { findRepoRoot } from "../support/repo-root.js";
import { copiesOf } from "./support/dockerfile.js";
import { type Packed, packAndInstall } from "./support/packed.js";

// What `npm run pack` makes, as somebody has it who installed it.

const repoRoot = findRepoRoot();
let packed: Packed;

before(async () => {
  packed = await packAndInstall();
});

interface Ended {
  readonly code: number;
  readonly output: string;
}

function run(program: string, ...words: string[]): Promise<Ended> {
  const { folder, env } = packed;
  return new Promise((resolve) => {
    execFile(program, words, { cwd: folder, env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
    });
  });
}

test("holds what runs, its YAML, docs and types, and neither tests nor sources nor leftovers", () => {
  const { files } = packed;
  for (const file of [
    ...["LICENSE", "README.md", "CHANGELOG.md", "docs/operations.md", "docs/openapi.json"],
    ...["envoy/full.yaml", "envoy/minimal.yaml", "envoy/live-policy.yaml", "envoy/service.yaml"],
    ...["build/llm-breaker.wasm", "build/llm-breaker-gate.wasm", "build/llm-breaker-meter.wasm"],
    ...["build/llm-breaker-dry-run.wasm", "build/SHA256SUMS", "build/types/extproc/control/schemas.d.ts"],
    ...["build/js/extproc/main.js", "build/js/extproc/cli/main.js", "build/js/demo/main.js"],
    ...["build/page/index.html", "envoy/policy.schema.json"],
    ...["proto/llm_breaker/v1/sync.proto", "extproc/config.schema.json"],
  ])
    assert.ok(files.includes(file), file);
  const foreign = files.filter((file) =>
    /\.map$|^(?:build\/js\/)?(?:test|bench|filter|scripts)\/|\.log$/.test(file),
  );
  assert.deepEqual(foreign, []);
  const sources = files.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"));
  assert.deepEqual(sources, []);
  const orphans = files.filter((file) => {
    const [, source] = /^build\/js\/(.*)\.js$/.exec(file) ?? [];
    return source !== undefined && !existsSync(join(repoRoot, `${source}.ts`));
  });
  assert.deepEqual(orphans, [], "compiled from what is there no more");
});

test("a package that lacks what it needs is told from a whole one", async () => {
  const script = pathToFileURL(join(repoRoot, "scripts", "pack.mjs")).href;
  const { missingFrom } = (await import(script)) as { missingFrom(files: readonly string[]): string[] };
  assert.deepEqual(missingFrom(packed.files), []);
  const lacking = ["build/llm-breaker-meter.wasm", "build/page/index.html", "build/js/extproc/main.js"];
  assert.deepEqual(
    missingFrom(packed.files.filter((file) => !lacking.includes(file))).sort(),
    lacking.sort(),
  );
});

test("images hold what the package holds, and all of it is there", () => {
  const holds = (path: string) => packed.files.some((file) => file === path || file.startsWith(`${path}/`));
  const copies = [...copiesOf("service.Dockerfile"), ...copiesOf("wasm.Dockerfile")];
  const built = copies.filter(({ from }) => from === "build").flatMap(({ sources }) => sources);
  assert.ok(built.length >= 6);
  for (const source of built)
    assert.ok(holds(source.replace("/src/", "")), `${source} is not in the package`);
  const context = copies.filter(({ from }) => from === undefined).flatMap(({ sources }) => sources);
  assert.ok(context.includes("build/llm-breaker.wasm"));
  for (const source of context) assert.ok(existsSync(join(repoRoot, source)), `${source} is not there`);
});

test("its modules are those that SHA256SUMS tells of", () => {
  const lines = readFileSync(join(packed.root, "build", "SHA256SUMS"), "utf8")
    .trim()
    .split("\n");
  const told = new Map(lines.map((line) => line.split("  ").reverse() as [string, string]));
  const modules = readdirSync(join(packed.root, "build")).filter((name) => name.endsWith(".wasm"));
  assert.deepEqual([...told.keys()], modules.sort());
  for (const [name, digest] of told) {
    const bytes = readFileSync(join(packed.root, "build", name));
    assert.equal(createHash("sha256").update(bytes).digest("hex"), digest, name);
  }
});

test("the command line tells what it can do, renders a policy and checks what it rendered", async () => {
  const help = await run(packed.command, "--help");
  assert.equal(help.code, 0, help.output);
  for (const word of ["render", "check", "demo", "status"]) assert.ok(help.output.includes(word), word);
  const { version } = JSON.parse(readFileSync(join(repoRoot, "package.json"), "utf8"));
  assert.deepEqual(await run(packed.command, "--version"), { code: 0, output: `${version}\n` });
  const policy = `name: chat
listen: 127.0.0.1:10000
backends:
  gpu: { url: "http://127.0.0.1:9101" }
  small: { url: "http://127.0.0.1:9102" }
chains:
  chat: { tiers: [gpu, small] }
`;
  writeFileSync(join(packed.folder, "policy.yaml"), policy);
  const rendered = await run(
    packed.command,
    "render",
    "policy.yaml",
    "--target",
    "envoy",
    "-o",
    "envoy.yaml",
  );
  assert.equal(rendered.code, 0, rendered.output);
  const checked = await run(packed.command, "check", "envoy.yaml");
  assert.equal(checked.code, 0, checked.output);
});

test("the demo tells where it can't write, and what to do", async () => {
  const { code, output } = await run("env", "LLM_BREAKER_CACHE=/dev/null/cache", packed.command, "demo");
  assert.equal(code, 1);
  assert.match(output, /^demo: \/dev\/null\/cache can't be written\. Set LLM_BREAKER_CACHE/m);
  assert.doesNotMatch(output, /\n {4}at /);
});

test("its types describe what the control API answers, and its modules can be found by name", async () => {
  const program = `import type { BackendView } from "llm-breaker/control";
import { backendsSchema } from "llm-breaker/control";
export const isOpen = ({ state }: BackendView): boolean => state === "OPEN";
export const names: string[] = backendsSchema.parse({ backends: [] }).backends.map(({ name }) => name);
// @ts-expect-error there is no such state
export const never = ({ state }: BackendView): boolean => state === "AJAR";
`;
  writeFileSync(join(packed.folder, "mine.mts"), program);
  const compiler = join(repoRoot, "node_modules", "typescript", "bin", "tsc");
  const options = [
    "--ignoreConfig",
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "nodenext",
    "--target",
    "es2023",
  ];
  const compiled = await run(process.execPath, compiler, ...options, "mine.mts");
  assert.equal(compiled.code, 0, compiled.output);
  const script = `console.log(import.meta.resolve("llm-breaker/llm-breaker-gate.wasm"))`;
  writeFileSync(join(packed.folder, "find.mjs"), script);
  const found = await run(process.execPath, "find.mjs");
  assert.ok(existsSync(new URL(found.output.trim())), found.output);
});
