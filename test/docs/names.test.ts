import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { promisify } from "node:util";
import { parse } from "yaml";
import { checkSettings } from "../../extproc/config/load.js";
import { readPolicy } from "../../extproc/render/policy-file.js";
import { serviceSchema } from "../../extproc/service-config.js";
import { findRepoRoot } from "../support/repo-root.js";
import { commandsIn } from "./support/commands.js";
import { codeIn, documents, fencesIn, textOf } from "./support/markdown.js";
import { wordsOfSources } from "./support/sources.js";

const root = findRepoRoot();

/** Decisions and the changelog tell of what was, too. */
const present = documents().filter((file) => !/^(docs\/decisions\/|CHANGELOG)/.test(file));

let words: ReadonlySet<string>;
before(() => {
  words = wordsOfSources();
});

/** Names in the documents that no source has, each with its document. */
function unknown(find: (text: string) => Iterable<string>): string[] {
  const found = present.flatMap((file) => [...new Set(find(textOf(file)))].map((name) => ({ file, name })));
  assert.ok(found.length > 10, "next to nothing was looked for");
  return found.filter(({ name }) => !words.has(name)).map(({ file, name }) => `${file}: ${name}`);
}

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([match]) => match);

test("every header of ours that a document names exists", () => {
  assert.deepEqual(
    unknown((text) => matches(text, /\bx-llm-breaker-[a-z]+(-[a-z]+)*/g)),
    [],
  );
});

test("every metric that a document names is in docs/metrics.md, or an attribute of a span", () => {
  const table = textOf("docs/metrics.md");
  const isMetric = (name: string) =>
    new RegExp(`\`${name}\``).test(table) || words.has(name) || /_service_/.test(name);
  const names = present.flatMap((file) => matches(textOf(file), /\bllm_breaker_[a-z0-9_]*[a-z0-9]\b/g));
  assert.ok(names.length > 30);
  const inEnvoysNames = (name: string) => name.replace(/^llm_breaker_(gpu|chain)_/, "");
  const missing = names.filter((name) => !isMetric(name) && !words.has(inEnvoysNames(name)));
  assert.deepEqual([...new Set(missing)], []);
});

test("the runbook has every cause of a transition, and no other", () => {
  const source = readFileSync(join(root, "filter/breaker/state.ts"), "utf8");
  const causes = matches(source, /(?<=case Cause\.)\w+(?=:)/g).filter((cause) => cause !== "NONE");
  const [, table = ""] = /\n\| cause \| what happened \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(
    textOf("docs/operations.md"),
  ) ?? [""];
  const told = matches(table, /(?<=[|,] `|, `)[A-Z_]+(?=`)/g);
  assert.deepEqual([...new Set(told)].sort(), causes.sort());
});

test("every name in capitals exists", () => {
  assert.deepEqual(
    unknown((text) => matches(text, /\b[A-Z]+_[A-Z_]*[A-Z]\b/g).filter((name) => !NOT_OURS.has(name))),
    [],
  );
});

/** Names of others: of a command line, of Node, of Istio. */
const NOT_OURS = new Set(["ENVOY_BIN", "NODE_EXTRA_CA_CERTS", "PILOT_ENABLE_ALPN_FILTER"]);

test("every setting that a document names exists", () => {
  assert.deepEqual(
    unknown((text) =>
      codeIn(text)
        .filter((code) => /^[a-z]\w*(\.[a-z<>[\]]\w*)*$/i.test(code) && /[a-z][A-Z]/.test(code))
        .flatMap((code) => code.split("."))
        .filter((part) => /^[a-z]+[A-Z]/.test(part) && !FOREIGN_FIELDS.has(part)),
    ),
    [],
  );
});

/** Fields of Kubernetes and Istio. */
const FOREIGN_FIELDS = new Set(["subPath", "proxyVersion", "proxyStatsMatcher", "extensionProviders"]);

test("every file that a document names exists", () => {
  const paths = present.flatMap((file) =>
    codeIn(textOf(file))
      .filter((code) =>
        /^(envoy|extproc|filter|test|docs|demo|bench|scripts|proto|docker)\/[\w./-]+$/.test(code),
      )
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${file}: ${path}`),
  );
  assert.deepEqual(paths, []);
});

test("every command and option of llm-breaker that a document names exists", async () => {
  const main = join(root, "build/js/extproc/cli/main.js");
  const help = async (...command: string[]) =>
    (await promisify(execFile)(process.execPath, [main, ...command, "--help"])).stdout;
  const [general, render, check, demo] = await Promise.all([
    help(),
    help("render"),
    help("check"),
    help("demo"),
  ]);
  const helps: Readonly<Record<string, string>> = { render, check, demo };
  const faults: string[] = [];
  let seen = 0;
  for (const file of present) {
    const lines = [...codeIn(textOf(file)), ...commandsIn(file)];
    for (const line of lines) {
      const [, command, rest = ""] = /^(?:npx )?llm-breaker ([a-z-]+)(.*)/s.exec(line) ?? [];
      if (command === undefined) continue;
      seen++;
      if (!general.includes(`llm-breaker ${command}`)) faults.push(`${file}: ${command}`);
      for (const option of matches(rest, /--[a-z-]+/g)) {
        if (!(helps[command] ?? general).includes(option)) faults.push(`${file}: ${command} ${option}`);
      }
    }
  }
  assert.ok(seen > 20);
  assert.deepEqual(faults, []);
});

test("every npm script that a document names exists", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
  const named = present.flatMap((file) => matches(textOf(file), /(?<=npm run (?:-s )?)[a-z][\w:-]*/g));
  assert.ok(named.length > 5);
  assert.deepEqual(
    named.filter((name) => !Object.hasOwn(scripts, name)),
    [],
  );
});

const yamlBlocks = present.flatMap((file) =>
  fencesIn(textOf(file))
    .filter(({ language }) => language === "yaml")
    .map(({ text, line }) => ({ place: `${file}:${line}`, text })),
);

test("every policy in the documents is one", () => {
  const policies = yamlBlocks.filter(({ text }) => /^backends:/m.test(text) && /^chains:/m.test(text));
  assert.ok(policies.length >= 5);
  for (const { place, text } of policies) assert.doesNotThrow(() => readPolicy(text, place), place);
});

test("all settings of the service in the documents are taken", () => {
  const keys = /^(listen|callers|limits|signals|peers|sync|control|webhooks|traces|cache):/;
  const blocks = yamlBlocks.filter(({ text }) => keys.test(text));
  assert.ok(blocks.length >= 5);
  for (const { place, text } of blocks) {
    assert.doesNotThrow(() => checkSettings(serviceSchema, parse(text)), place);
  }
});
