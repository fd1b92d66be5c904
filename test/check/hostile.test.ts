import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { checkFiles } from "../../extproc/check/check.js";
import { readYaml } from "../../extproc/check/tree/yaml.js";
import { isPlain } from "../../extproc/control/words.js";
import { rulesFound, shipped } from "./support/found.js";

const FILES = [
  "envoy/full.yaml",
  "test/check/broken/istio-sidecar.yaml",
  "test/check/broken/envoy-gateway.yaml",
];
const LINES = FILES.map((name) => shipped(name).text.split("\n"));
/** Lines that stand where they have no business. */
const ODD = [
  "- *meter",
  "&x [*x]",
  "<<: *wide",
  "null",
  "{}",
  "[]",
  "- - -",
  "value: {",
  "name: 7",
  "\u0000",
  "? [a]",
];

const mutated = fc
  .record({
    file: fc.nat(FILES.length - 1),
    cuts: fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.constantFrom("", ...ODD)), {
      minLength: 1,
      maxLength: 6,
    }),
  })
  .map(({ file, cuts }) => {
    const lines = [...(LINES[file] ?? [])];
    for (const [at, count, odd] of cuts) {
      const index = at % lines.length;
      const indent = /^ */.exec(lines[index] ?? "")?.[0] ?? "";
      lines.splice(index, count, ...(odd === "" ? [] : [indent + odd]));
    }
    return lines.join("\n");
  });

test("whatever became of a file, it is judged and nothing is thrown", () => {
  fc.assert(
    fc.property(mutated, (text) => {
      checkFiles([{ name: "mutated.yaml", text }]);
    }),
    { numRuns: 60 },
  );
});

test("any text is judged", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      checkFiles([{ name: "any.yaml", text }]);
    }),
    { numRuns: 300 },
  );
});

test("JSON is read as YAML would read it", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      const [json] = readYaml("a.json", `[${text}]`).roots;
      const [yaml] = readYaml("a.yaml", `- ${text}\n`).roots;
      assert.equal(json?.items[0]?.text, yaml?.items[0]?.text);
      assert.deepEqual(
        [...(json?.items[0]?.fields.keys() ?? [])],
        [...(yaml?.items[0]?.fields.keys() ?? [])],
      );
    }),
    { numRuns: 200 },
  );
});

const laughs = (entry: (n: number) => string) =>
  Array.from({ length: 60 }, (_, n) => entry(n + 1)).join("\n");

for (const [what, text] of [
  ["nested too deeply", "[".repeat(100_000)],
  [
    "aliases that multiply",
    `a0: &a0 [x]\n${laughs((n) => `a${n}: &a${n} [*a${n - 1}, *a${n - 1}]`)}\nstatic_resources: { clusters: *a60 }`,
  ],
  [
    "a policy of aliases that multiply",
    `a0: &a0 {x: 1}\n${laughs((n) => `a${n}: &a${n} {p: *a${n - 1}, q: *a${n - 1}}`)}\nresources: [{ "@type": x.TypedExtensionConfig, name: llm.breaker.gate, typed_config: { "@type": x.Wasm, config: { root_id: gate, configuration: *a60 } } }]`,
  ],
  [
    "values that hold themselves",
    "static_resources: { clusters: &c [*c], listeners: [&l { filter_chains: [*l], name: x }] }",
  ],
  ["many aliases", "- &a 1\n- *a\n".repeat(30_000)],
  ["many documents", "---\na: 1\n".repeat(6000)],
] as const) {
  test(`bounded: ${what}`, { timeout: 20_000 }, () => {
    checkFiles([{ name: "hostile.yaml", text }]);
  });
}

test("what a file says can do nothing in a terminal", () => {
  const text =
    'metadata: { filter_metadata: { llm.breaker: { "model\\e[31m": x } } }\nname: c\nconnect_timeout: 1s\n';
  const [finding] = checkFiles([{ name: "c.yaml", text }]).findings;
  assert.equal(finding?.rule, "metadata-key-unknown");
  assert.ok(finding && isPlain(finding.what));
});

test("a key that stands there twice, and an alias without its anchor, are told with their place", () => {
  for (const [text, line] of [
    ["a: 1\nb: 2\na: 3\n", 3],
    ["a: 1\nb: *c\n", 2],
  ] as const) {
    const { findings } = checkFiles([{ name: "a.yaml", text }]);
    assert.deepEqual(
      findings.map((each) => [each.rule, each.line]),
      [["unreadable", line]],
    );
  }
  assert.deepEqual(rulesFound([{ name: "empty.yaml", text: "" }]), []);
});
