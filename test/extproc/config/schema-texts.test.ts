import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { toExample } from "../../../extproc/config/example.js";
import { count, duration } from "../../../extproc/config/fields.js";
import { toJsonSchema } from "../../../extproc/config/json-schema.js";
import { toTable } from "../../../extproc/config/table.js";

const backend = z.strictObject({
  url: z.string().describe("Where."),
  names: z.array(z.string()).default(["a", "b"]).describe("Who."),
});

const SCHEMA = toJsonSchema(
  z.strictObject({
    wait: duration.prefault("5s").describe("This | or that."),
    section: z
      .strictObject({
        on: z.boolean().default(false).describe("Whether."),
        backends: z
          .record(z.string(), backend)
          .default({})
          .meta({ example: { gpu: { url: "x" } } })
          .describe("Them all."),
      })
      .prefault({})
      .describe("A section."),
    limits: z
      .strictObject({
        rate: count(1).optional().describe("How often."),
        burst: count(0).default(3).describe("At once."),
      })
      .optional()
      .meta({ example: { rate: 7 } })
      .describe("Off by default."),
    list: z.array(backend).default([]).describe("A list."),
  }),
  "Ours",
);

test("a table names every setting, its default and what it means", () => {
  assert.deepEqual(toTable(SCHEMA).split("\n").slice(2), [
    "| `wait` | `5s` | This \\| or that. |",
    "| `section` |  | A section. |",
    "| `section.on` | `false` | Whether. |",
    "| `section.backends` | none | Them all. |",
    "| `section.backends.<name>.url` | required | Where. |",
    "| `section.backends.<name>.names` | `a, b` | Who. |",
    "| `limits` | none | Off by default. |",
    "| `limits.rate` | none | How often. |",
    "| `limits.burst` | `3` | At once. |",
    "| `list` | none | A list. |",
    "| `list[].url` | required | Where. |",
    "| `list[].names` | `a, b` | Who. |",
  ]);
});

test("an example shows defaults as they are, and comments out what is only one", () => {
  assert.equal(
    toExample(SCHEMA),
    `# This | or that.
wait: 5s

# A section.
section:
  # Whether.
  on: false
  # Them all.
  #backends:
  #  gpu:
  #    url: x

# Off by default.
#limits:
#  # How often.
#  rate: 7
#  # At once.
#  burst: 3

# A list.
list: []
`,
  );
  assert.match(toExample(SCHEMA, true), /^limits:\n {2}# How often\.\n {2}rate: 7$/m);
});

test("a schema bounds numbers where we do, and shows durations as texts", () => {
  assert.deepEqual(SCHEMA.properties?.limits?.properties?.burst, {
    description: "At once.",
    default: 3,
    type: "integer",
    minimum: 0,
  });
  const wait = SCHEMA.properties?.wait;
  assert.deepEqual([wait?.type, wait?.default], ["string", "5s"]);
  assert.deepEqual(SCHEMA.properties?.limits?.examples, [{ rate: 7 }]);
});

test("long descriptions are wrapped", () => {
  const schema = toJsonSchema(
    z.strictObject({ a: count(0).default(0).describe("word ".repeat(60)) }),
    "Ours",
  );
  const lines = toExample(schema).trimEnd().split("\n");
  assert.ok(lines.length > 2 && lines.every((line) => line.length <= 110));
});
