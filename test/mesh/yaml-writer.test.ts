import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { commented, plain, type YamlValue } from "../../extproc/render/yaml/value.js";
import { writeDocument } from "../../extproc/render/yaml/writer.js";

const value: YamlValue = {
  kind: "EnvoyFilter",
  spec: commented("Above its key.", {
    list: [commented("Above an item.", { on: "yes", number: "1", truth: "true" }), { short: [1, 2] }],
    absent: undefined,
    policy: '{\n  "name": "chat"\n}\n',
  }),
};

test("what is written is read back as the same values, comments and absent keys left out", () => {
  assert.deepEqual(parse(writeDocument("A header.", value)), plain(value));
});

test("comments stand above what they are of, and short maps on one line", () => {
  assert.equal(
    writeDocument("A header.\n\n  laid out", value),
    [
      "# A header.",
      "#",
      "#   laid out",
      "kind: EnvoyFilter",
      "# Above its key.",
      "spec:",
      "  list:",
      "  # Above an item.",
      '  - { "on": "yes", number: "1", truth: "true" }',
      "  - { short: [ 1, 2 ] }",
      "  policy: |",
      "    {",
      '      "name": "chat"',
      "    }",
      "",
    ].join("\n"),
  );
});

test("a long comment is broken between words", () => {
  const lines = writeDocument("word ".repeat(60).trim(), {}).split("\n").slice(0, -2);
  assert.ok(lines.length === 3 && lines.every((line) => line.length <= 112 && line.startsWith("# word")));
});

test("what Kubernetes' reader, which is Go's, would not take plain is quoted", () => {
  assert.equal(writeDocument("", { list: [{ exact: ":method" }] }), '{ list: [ { exact: ":method" } ] }\n');
});
