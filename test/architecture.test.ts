import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { test } from "node:test";
import { findRepoRoot } from "./support/repo-root.js";

const root = findRepoRoot();
const codeFolders = ["filter", "extproc", "envoy", "demo", "bench", "scripts", "test"];

function sourcesIn(folder: string): string[] {
  const top = join(root, folder);
  if (!existsSync(top)) return [];
  return readdirSync(top, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.m?tsx?$|\.mjs$/.test(name) && !name.includes("node_modules"))
    .map((name) => posix.join(folder, name));
}

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");

/** The repository's files that a file imports (or re-exports from), packages left out. */
function importsOf(file: string): string[] {
  const specifiers = [...textOf(file).matchAll(/^(?:import|export)\b[^;"']*?["'](\.[^"']+)["']/gm)];
  return specifiers.map(([, specifier = ""]) => {
    const path = posix.join(dirname(file), specifier).replace(/\.js$/, "");
    return (
      [`${path}.ts`, `${path}.tsx`, path, `${path}/index.ts`].find((each) => existsSync(join(root, each))) ??
      `${path}.ts`
    );
  });
}

/** `filter/gate.ts` and `filter/gate/headers.ts` are both the part "gate". */
function partOf(file: string): string {
  return file.split("/")[1]?.replace(/\.ts$/, "") ?? file;
}

/** Every import as importer → imported, of one top folder. */
function edgesIn(folder: string): [importer: string, imported: string][] {
  return sourcesIn(folder).flatMap((file) => importsOf(file).map((each): [string, string] => [file, each]));
}

const arrow = ([importer, imported]: readonly [string, string]): string => `${importer} → ${imported}`;

test("the filter's pure parts and its host layer import nothing outside themselves", () => {
  const closed = ["filter/breaker/", "filter/bytes/", "filter/host/"];
  const outward = edgesIn("filter").filter(([importer, imported]) =>
    closed.some((part) => importer.startsWith(part) && !imported.startsWith(part)),
  );
  assert.deepEqual(outward.map(arrow), []);
});

const isIndex = (path: string): boolean => /^filter\/index(-gate|-meter|-dry-run)?\.ts$/.test(path);

test("the filter's index files only gather the callbacks, and nobody imports them", () => {
  const edges = edgesIn("filter");
  const below = edges.filter(([importer, imported]) => {
    return isIndex(importer) && /^filter\/(breaker|bytes)\//.test(imported);
  });
  assert.deepEqual(below.map(arrow), []);
  assert.deepEqual(edges.filter(([, imported]) => isIndex(imported)).map(arrow), []);
});

test("the filter imports nothing from outside of its folder", () => {
  assert.deepEqual(
    edgesIn("filter")
      .filter(([, imported]) => !imported.startsWith("filter/"))
      .map(arrow),
    [],
  );
});

test("the service's imports go from main to server to stream to roles to what roles use", () => {
  const rank: Record<string, number> = { main: 0, server: 1, stream: 2, count: 3, rewrite: 3, reply: 3 };
  for (const leaf of ["body", "tokens", "limits", "threads"]) rank[leaf] = 4;
  const backward = edgesIn("extproc").filter(([importer, imported]) => {
    const from = rank[partOf(importer)];
    const to = rank[partOf(imported)];
    return partOf(importer) !== partOf(imported) && from !== undefined && to !== undefined && from > to;
  });
  assert.deepEqual(backward.map(arrow), []);
});

test("the service imports nothing from outside of its folder but its contracts", () => {
  const outward = edgesIn("extproc").filter(([, imported]) => !/^(extproc|proto)\//.test(imported));
  assert.deepEqual(outward.map(arrow), []);
});

for (const folder of ["filter", "extproc"]) {
  test(`no two parts of ${folder} import each other, directly or by way of others`, () => {
    const uses = new Map<string, Set<string>>();
    for (const [importer, imported] of edgesIn(folder)) {
      if (partOf(importer) === partOf(imported)) continue;
      uses.set(partOf(importer), (uses.get(partOf(importer)) ?? new Set()).add(partOf(imported)));
    }
    assert.deepEqual(cycleIn(uses), []);
  });
}

/** One cycle, first part repeated at its end; empty when there is none. */
function cycleIn(uses: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const finished = new Set<string>();
  const visit = (part: string, path: readonly string[]): string[] => {
    if (path.includes(part)) return [...path.slice(path.indexOf(part)), part];
    if (finished.has(part)) return [];
    for (const used of uses.get(part) ?? []) {
      const cycle = visit(used, [...path, part]);
      if (cycle.length > 0) return cycle;
    }
    finished.add(part);
    return [];
  };
  for (const part of uses.keys()) {
    const cycle = visit(part, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

test("a cycle of imports would be found", () => {
  const uses = new Map(Object.entries({ a: new Set(["b"]), b: new Set(["c"]), c: new Set(["b"]) }));
  assert.deepEqual(cycleIn(uses), ["b", "c", "b"]);
});

test("no source file is longer than 300 lines", () => {
  const long = codeFolders
    .flatMap(sourcesIn)
    .map((file) => ({ file, lines: textOf(file).trimEnd().split("\n").length }))
    .filter(({ lines }) => lines > 300);
  assert.deepEqual(long, []);
});

test("source files have kebab-case names", () => {
  const odd = codeFolders.flatMap(sourcesIn).filter((file) => {
    return !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|spec|d))?\.(ts|tsx|mts|mjs)$/.test(posix.basename(file));
  });
  assert.deepEqual(odd, []);
});

/** Decorators that stand before anything but a class. */
function decoratedFunctions(source: string): string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
  const decorator = String.raw`@\w+(?:\([^()]*\))?`;
  const decorated = new RegExp(String.raw`^\s*(?:${decorator}\s+)+((?:\w+\s+){1,4})`, "gm");
  return [...code.matchAll(decorated)]
    .map(([, words = ""]) => words.trim())
    .filter((words) => !/\bclass\b/.test(words));
}

test("function decorators, which formatters cannot parse, stand only in filter/host/abi.ts", () => {
  const files = [...sourcesIn("filter"), ...sourcesIn("test/filter")].filter(
    (file) => file !== "filter/host/abi.ts",
  );
  assert.deepEqual(
    files.filter((file) => decoratedFunctions(textOf(file)).length > 0),
    [],
  );
  assert.notDeepEqual(decoratedFunctions(textOf("filter/host/abi.ts")), []);
  assert.deepEqual(decoratedFunctions("@inline\nexport function f(): void {}"), ["export function"]);
  assert.deepEqual(decoratedFunctions("@final\nexport class A {}"), []);
});

test("the top level is the one that the README describes", () => {
  const expected = ["filter", "extproc", "proto", "envoy", "test", "demo", "bench", "docs"];
  expected.push(
    "asconfig.json",
    "package.json",
    "tsconfig.json",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
  );
  assert.deepEqual(
    expected.filter((name) => !existsSync(join(root, name))),
    [],
  );
});
