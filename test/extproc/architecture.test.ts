import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { findRepoRoot } from "../../extproc/root.js";

const FOLDER = join(findRepoRoot(), "extproc");

/** What the files of a folder may import at run time, besides their own folder. `.` is extproc/ itself, by file. */
const ALLOWED: Record<string, readonly string[]> = {
  threads: [],
  body: ["threads"],
  config: [],
  tokens: ["body", "threads", "config", "root.ts"],
  count: ["body", "tokens", "callers", "reply", "traces", "request-headers.ts"],
  reply: ["body", "request-headers.ts"],
  remember: ["body", "callers", "config", "reply", "request-headers.ts"],
  dialects: ["body", "dialects/anthropic"],
  "dialects/anthropic": ["body", "threads", "dialects", "request-headers.ts"],
  rewrite: ["body", "dialects", "request-headers.ts"],
  peers: ["config", "wire", "listen.ts", "redis-client.ts", "optional-package.ts"],
  signals: ["config", "threads"],
  sync: ["config"],
  telemetry: ["request-headers.ts", "sync"],
  traces: ["config", "optional-package.ts"],
};

function runtimeImports(file: string): string[] {
  const source = readFileSync(file, "utf8");
  const found = source.matchAll(/^(?:import|export) (?!type )[^;]*?from "(\.[^"]+)\.js";/gms);
  return [...found].map((match) => relative(FOLDER, join(dirname(file), `${match[1]}.ts`)));
}

function sourcesOf(folder: string): string[] {
  const names = readdirSync(join(FOLDER, folder)).filter((name) => name.endsWith(".ts"));
  return names.map((name) => join(FOLDER, folder, name));
}

test("roles, body and tokens know nothing of streams, servers or each other's insides", () => {
  for (const [folder, allowed] of Object.entries(ALLOWED)) {
    for (const file of sourcesOf(folder)) {
      for (const imported of runtimeImports(file)) {
        const target = imported.includes("/") ? dirname(imported) : imported;
        assert.ok(
          target === folder || allowed.includes(target),
          `${relative(FOLDER, file)} imports ${imported}`,
        );
      }
    }
  }
});

test("no file is over 300 lines", () => {
  const files = [...Object.keys(ALLOWED), "."].flatMap(sourcesOf);
  assert.ok(files.length > 30);
  for (const file of files) assert.ok(readFileSync(file, "utf8").split("\n").length <= 300, file);
});
