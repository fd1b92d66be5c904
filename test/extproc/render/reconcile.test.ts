import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parse, parseDocument, stringify } from "yaml";
import { reconcile } from "../../../extproc/render/into/reconcile.js";
import { applyEdits } from "../../../extproc/render/into/text-edit.js";
import { commented, plain, type YamlMap, type YamlValue } from "../../../extproc/render/yaml/value.js";

function brought(text: string, desired: YamlValue): string {
  return applyEdits(text, reconcile(parseDocument(text), text, desired));
}

/** Also: what comes out is the wanted value. */
function bring(text: string, change: (value: never) => YamlValue): string {
  const desired = change(structuredClone(parse(text)) as never);
  const done = brought(text, desired);
  assert.deepEqual(parse(done), plain(desired), done);
  return done;
}

test("puts keys and items in where they belong, in the file's own columns, with their comments", () => {
  const text = `# top
a: 1   # one
b:
    # about x
    - name: x   # nx
      v: {q: 1, r: [1, 2]}
    # about y
    - name: y
# end
`;
  const done = bring(text, (value: { b: YamlMap[] }) => ({
    ...value,
    b: [value.b[0] ?? {}, { name: "new", policy: "a\nb\n" }, { ...value.b[1], w: commented("note", 2) }],
    c: commented("C", true),
  }));
  assert.equal(
    done,
    `# top
a: 1   # one
b:
    # about x
    - name: x   # nx
      v: {q: 1, r: [1, 2]}
    - name: new
      policy: |
        a
        b
    # about y
    - name: y
      # note
      w: 2
# C
c: true
# end
`,
  );
});

test("writes into flow collections, and into JSON as JSON", () => {
  assert.equal(
    bring("a: {b: 1, c: [1, 2], d: {}, e: []}\n", (value: { a: YamlMap }) => ({
      a: { ...value.a, b: 2, c: [1, 2, 3], d: { x: "on" }, e: ["q"] },
    })),
    'a: {b: 2, c: [1, 2, 3], d: { x: "on" }, e: [ q ]}\n',
  );
  assert.equal(
    bring('{"a": [{"name": "x"}]}', (value: { a: YamlMap[] }) => ({
      a: [{ name: "n", y: "on" }, ...value.a],
    })),
    '{"a": [{"name":"n","y":"on"}, {"name": "x"}]}',
  );
});

test("a key that another takes the place of keeps its line, and what is deeper stands where it stood", () => {
  const done = bring(
    "r:\n- m: /\n  route:\n    cluster: gpu  # theirs\n    timeout: 60s\n",
    (value: { r: YamlMap[] }) => ({
      r: [{ ...value.r[0], route: { plugin: "llm", timeout: "60s" } }],
    }),
  );
  assert.equal(done, "r:\n- m: /\n  route:\n    plugin: llm  # theirs\n    timeout: 60s\n");
});

test("an alias whose anchor changes is written out where its value stays", () => {
  const done = bring("base: &b {x: 1}\nu: *b\nv: *b\n", (value: YamlMap) => ({
    ...value,
    base: { x: 1, z: 2 },
    u: { x: 1, z: 2 },
  }));
  assert.equal(done, "base: &b {x: 1, z: 2}\nu: *b\nv: { x: 1 }\n");
});

test("an item without a name that changes, among others that come, stays at its place", () => {
  assert.equal(
    bring("t:\n- max: 5  # ours\n  budget: 2\n", () => ({
      t: [{ max: 5, retries: 9 }, { priority: "HIGH" }],
    })),
    "t:\n- max: 5  # ours\n  retries: 9\n- { priority: HIGH }\n",
  );
});

test("an item that goes takes its lines and its comment along", () => {
  const text =
    "f:\n  # top\n- a: 1\n# of b,\n# two lines\n- name: b\n  v: |-\n    x\n    y\n\n-\n  c: 3\nz: 1\n";
  const keep = (...kept: number[]) =>
    bring(text, ({ f }: { f: YamlMap[] }) => ({ f: kept.map((at) => f[at] ?? {}), z: 1 }));
  assert.equal(keep(0, 2), "f:\n  # top\n- a: 1\n\n-\n  c: 3\nz: 1\n");
  assert.equal(keep(0), "f:\n  # top\n- a: 1\n\nz: 1\n");
  assert.throws(() => brought("- a\n", []), /a has to go/);
  assert.equal(
    bring("[]", () => ["a, b", "c]"]),
    '[ "a, b", "c]" ]',
  );
  bring("a: []\n", () => ({ a: ["two\nlines\n"] }));
  assert.throws(() => brought("[{name: b}, 1]", [1]), /b has to go: remove it/);
  assert.throws(() => brought("- - 1\n  - 2\n", [[2]]), /1 has to go: remove it/);
});

test("a line that holds an anchor, of which there are aliases, does not go", () => {
  const long = "x".repeat(120);
  const done = bring("a: {p: &p {q: 1}}\nb: *p\n", (value: { a: YamlMap }) => ({
    ...value,
    a: { ...value.a, long },
  }));
  assert.equal(done, `a: {p: &p {q: 1}, long: ${long}}\nb: *p\n`);
});

test("what is as it should be stays byte for byte", () => {
  const text = "a:   1\nb: [ 1,2 ]\n\n\n# c\n";
  assert.equal(brought(text, { a: 1, b: [1, 2] }), text);
});

test("whatever is put into whatever text, it becomes the wanted value", () => {
  const key = fc.constantFrom("a", "b", "on", "a b", "x: y", "#");
  const { map } = fc.letrec<{ value: YamlValue; map: YamlMap }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom("", "yes", "text", "two\nlines\n", "# no comment", "1", "{", "- x", " blank "),
      fc.integer(),
      fc.boolean(),
      fc.array(tie("value"), { maxLength: 3 }),
      tie("map"),
    ),
    map: fc.dictionary(key, tie("value"), { maxKeys: 4 }) as fc.Arbitrary<YamlMap>,
  }));
  const style = fc.record({
    indent: fc.constantFrom(2, 4),
    indentSeq: fc.boolean(),
    collectionStyle: fc.constantFrom("any" as const, "flow" as const),
    lineWidth: fc.constant(0),
  });
  fc.assert(
    fc.property(map, map, style, (present, wanted, options) => {
      const text = stringify(present, options);
      // Only additions and changes: what goes is told, and left to people.
      const desired = { ...(parse(text) as YamlMap), ...wanted };
      let done: string;
      try {
        done = brought(text, desired);
      } catch (cause) {
        assert.match(String(cause), /CantReconcile/);
        return;
      }
      assert.deepEqual(parse(done), plain(desired), `${text}\n→\n${done}`);
      assert.equal(brought(done, desired), done);
    }),
    { numRuns: 250 },
  );
});
