#!/usr/bin/env node
// Writes build/SHA256SUMS, as `sha256sum --check` reads it. Node built-ins only.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const build = join(dirname(fileURLToPath(import.meta.url)), "..", "build");

/** Tells of every module in build/: who has them from elsewhere can compare. */
export function writeChecksums() {
  const modules = readdirSync(build).filter((name) => name.endsWith(".wasm"));
  const lines = modules.sort().map((name) => {
    const digest = createHash("sha256")
      .update(readFileSync(join(build, name)))
      .digest("hex");
    return `${digest}  ${name}\n`;
  });
  writeFileSync(join(build, "SHA256SUMS"), lines.join(""));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) writeChecksums();
