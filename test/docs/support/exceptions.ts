import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../../support/repo-root.js";

export interface Exception {
  /** As it stands in a document, without what is told of it behind `#`. */
  readonly command: string;
  /** Why it is not run. */
  readonly why: string;
  /** What is looked at instead. */
  readonly check: () => void;
}

const root = findRepoRoot();

function hasScript(name: string): void {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const words = (scripts[name] ?? "").split(/\s+/);
  assert.ok(words.length > 1, `package.json has no script ${name}`);
  for (const word of words.filter((each) => /^scripts\/|^build\/js\//.test(each))) hasSource(word);
}

function hasSource(file: string): void {
  const source = file.replace(/^build\/js\/(.*)\.js$/, "$1.ts");
  hasFile(source);
}

function hasFile(file: string): void {
  assert.ok(existsSync(join(root, file)), `there is no ${file}`);
}

/** Everything that it copies from the repository's folder is there. */
function copiesWhatThereIs(dockerfile: string): void {
  const lines = readFileSync(join(root, dockerfile), "utf8").matchAll(/^COPY (?!--from)(.+) \S+$/gm);
  const files = [...lines].flatMap(([, sources = ""]) => sources.split(" "));
  assert.ok(files.length > 0);
  for (const file of files) hasFile(file);
}

/** Commands that no test of the documents runs. Whatever is not here is run. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    command: "npm run demo",
    why: "takes 70 s; test/page/outage.test.ts runs it",
    check: () => hasScript("demo"),
  },
  { command: "npm test", why: "runs this", check: () => hasScript("test") },
  {
    command: "npm ci",
    why: "takes minutes, and everything else here needs it",
    check: () => hasFile(".npmrc"),
  },
  {
    command: "npm run build",
    why: "scripts/setup.mjs has built before any test",
    check: () => hasScript("build"),
  },
  {
    command: "npm run pack",
    why: "takes a minute; test/pack runs it",
    check: () => hasScript("pack"),
  },
  ...["service", "wasm"].map((image) => ({
    command: `docker build -f docker/${image}.Dockerfile -t REGISTRY/llm-breaker-${image}:0.1.0 .`,
    why: "needs a container engine",
    check: () => copiesWhatThereIs(`docker/${image}.Dockerfile`),
  })),
];

/** Commands that have no end of their own: run until they have written this. */
export const ENDLESS: readonly { readonly command: string; readonly writes: RegExp }[] = [
  { command: "npx llm-breaker watch", writes: /^watching/m },
];
