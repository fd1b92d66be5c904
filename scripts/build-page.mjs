#!/usr/bin/env node
// Bundles the live page into build/page: one page, one script, one style sheet, the last two named by their content.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const repoRoot = join(dirname(fileURLToPath(import.meta.url)), "..");
const source = join(repoRoot, "extproc", "page", "browser");
const target = join(repoRoot, "build", "page");

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const { outputFiles } = await build({
  entryPoints: [join(source, "page.tsx")],
  tsconfig: join(source, "tsconfig.json"),
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  legalComments: "eof",
  charset: "utf8",
  outdir: target,
  entryNames: "[name]-[hash]",
  write: false,
});
const nameOf = (/** @type {string} */ end) => {
  const file = outputFiles.find(({ path }) => path.endsWith(end));
  if (file === undefined) throw new Error(`esbuild wrote no ${end}`);
  return basename(file.path);
};
for (const { path, contents } of outputFiles) writeFileSync(path, contents);
const html = readFileSync(join(source, "index.html"), "utf8")
  .replace("page.css", nameOf(".css"))
  .replace("page.js", nameOf(".js"));
writeFileSync(join(target, "index.html"), html);
const bytes = outputFiles.reduce((sum, { contents }) => sum + contents.length, html.length);
console.log(`build/page: ${(bytes / 1000).toFixed(1)} kB`);
