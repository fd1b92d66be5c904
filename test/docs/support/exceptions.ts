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
  assert.ok(existsSync(join(root, source)), `there is no ${source}`);
}

/** Commands that no test of the documents runs. Whatever is not here is run. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    command: "npm run demo",
    why: "takes 70 s; test/page/outage.test.ts runs it",
    check: () => hasScript("demo"),
  },
  { command: "npm test", why: "runs this", check: () => hasScript("test") },
];

/** Commands that have no end of their own: run until they have written this. */
export const ENDLESS: readonly { readonly command: string; readonly writes: RegExp }[] = [
  { command: "npx llm-breaker watch", writes: /^watching/m },
];
