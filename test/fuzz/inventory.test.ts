import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { findRepoRoot } from "../support/repo-root.js";
import { buildParsers } from "./build-parsers.js";
import { EXCUSED, PARSING_FOLDERS, READS } from "./inventory.js";
import type { Target } from "./target.js";
import { targetNamed, targetNames } from "./targets.js";

const ROOT = findRepoRoot();
const textOf = (path: string) => readFileSync(join(ROOT, path), "utf8");
const targets: Target[] = [];

before(async () => {
  buildParsers();
  for (const name of targetNames) targets.push(await targetNamed(name));
});

const claimed = () => new Set(targets.flatMap(({ parsers }) => parsers));

test("each source that reads bytes from outside is some target's, or has a reason not to be", () => {
  const inFolders = PARSING_FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  );
  const inService = readdirSync(join(ROOT, "extproc"), { recursive: true, encoding: "utf8" })
    .map((name) => `extproc/${name.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") && !path.startsWith("extproc/page/browser/"))
    .filter((path) => READS.test(textOf(path)));
  const readers = new Set([...inFolders, ...inService].filter((path) => path.endsWith(".ts")));
  const known = claimed();
  assert.deepEqual(
    [...readers].filter((path) => !known.has(path) && !(path in EXCUSED)),
    [],
  );
});

test("what is named is there, and nothing is both a target's and excused", () => {
  const known = claimed();
  const paths = [...known, ...Object.keys(EXCUSED)];
  assert.deepEqual(
    paths.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
  assert.deepEqual(
    Object.keys(EXCUSED).filter((path) => known.has(path)),
    [],
  );
});

test("targets bear the names by which they are asked for, and the README has them all", () => {
  assert.deepEqual(
    targets.map(({ name }) => name),
    targetNames,
  );
  const readme = textOf("test/fuzz/README.md");
  assert.deepEqual(
    targetNames.filter((name) => !readme.includes(`\`${name}\``)),
    [],
  );
});

test("seeds are what their parsers read: each tells something, or is the odd one of a few", async () => {
  for (const target of targets.filter(({ oneCaseFor = 1 }) => oneCaseFor === 1)) {
    const { Random } = await import("./support/random.js");
    const session = await target.open();
    const told = [];
    for (const seed of target.seeds)
      for (let turn = 0; turn < 8; turn++) told.push(await session.run(seed, new Random(turn)));
    await session.close?.();
    assert.ok(
      told.some((each) => each !== ""),
      `${target.name}: no seed is taken`,
    );
  }
});
