import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { ConfigError } from "../../extproc/config/errors.js";
import { toExample } from "../../extproc/config/example.js";
import type { JsonSchema } from "../../extproc/config/json-schema.js";
import { configFiles, serviceJsonSchema } from "../../extproc/config-files.js";
import { findRepoRoot } from "../../extproc/root.js";
import { parseConfig } from "../../extproc/service-config.js";

const SCHEMA = serviceJsonSchema();
const isValid = new Ajv2020({ allErrors: true }).compile(SCHEMA);

test("schema, example and table are up to date; else run: npm run -s schema", () => {
  for (const { path, update } of configFiles()) {
    const present = readFileSync(join(findRepoRoot(), path), "utf8");
    assert.equal(present, update(present), path);
    assert.ok(present.includes("maxBodyBytes"), `${path} holds the settings`);
  }
});

test("the shipped example is what the defaults are, and valid with its examples", () => {
  const shipped: unknown = parse(readFileSync(join(findRepoRoot(), "envoy", "service.yaml"), "utf8"));
  assert.deepEqual(parseConfig(shipped), parseConfig({}));
  assert.ok(isValid(shipped));
  const whole: unknown = parse(toExample(SCHEMA, true));
  assert.ok(isValid(whole), JSON.stringify(isValid.errors));
  const { limits, signals } = parseConfig(whole);
  assert.ok(limits?.redis && limits.classes.vip && signals.backends.gpu, "the examples are in it");
});

test("uncommenting an example of the shipped file brings it into use", () => {
  const shipped = readFileSync(join(findRepoRoot(), "envoy", "service.yaml"), "utf8");
  const uncommented = shipped.replaceAll(/^( *)#(?=\S| {2})/gm, "$1");
  assert.notEqual(uncommented, shipped);
  assert.equal(parseConfig(parse(uncommented)).signals.backends.gpu?.longQueue, 8);
});

test("schema and service agree on what is right and what is wrong", () => {
  const right: unknown[] = [
    {},
    { drainTimeout: "1.5s", listen: { grpc: "[::1]:0" } },
    { limits: { tokensPerMinute: 1, classes: { a: {} } } },
  ];
  const wrong: unknown[] = [
    [],
    { nope: 1 },
    { drainTimeout: 10 },
    { drainTimeout: "10 s" },
    { listen: { grpc: "abc" } },
    { log: { level: "loud" } },
    { maxBodyBytes: 1 },
    { maxBodyBytes: 2048.5 },
    { tokenizers: [{ models: [] }] },
    { limits: { classes: { "a b": {} } } },
    { signals: { backends: { gpu: {} } } },
    { callers: { headers: ["Not-Lower"] } },
  ];
  for (const settings of right) {
    assert.ok(isValid(settings), JSON.stringify([settings, isValid.errors]));
    parseConfig(settings);
  }
  for (const settings of wrong) {
    assert.ok(!isValid(settings), JSON.stringify(settings));
    assert.throws(() => parseConfig(settings), ConfigError, JSON.stringify(settings));
  }
});

test("every setting says what it is", () => {
  const silent = namesWithoutDescription("", SCHEMA);
  assert.deepEqual(silent, []);
  assert.deepEqual(namesWithoutDescription("", { properties: { a: { properties: { b: {} } } } }), [
    "a",
    "a.b",
  ]);
});

function namesWithoutDescription(
  prefix: string,
  { properties, items, additionalProperties }: JsonSchema,
): string[] {
  const below = [items, additionalProperties].flatMap((inner) =>
    typeof inner === "object" ? namesWithoutDescription(`${prefix}[].`, inner) : [],
  );
  const own = Object.entries(properties ?? {}).flatMap(([key, setting]) => [
    ...(setting.description ? [] : [`${prefix}${key}`]),
    ...namesWithoutDescription(`${prefix}${key}.`, setting),
  ]);
  return [...own, ...below];
}
