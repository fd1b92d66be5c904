import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { policyFaults } from "../../../extproc/policy-check.js";
import { policyFiles, policyJsonSchema } from "../../../extproc/policy-files.js";
import { durationMs } from "../../../extproc/policy-schema/fields.js";
import { policySchema } from "../../../extproc/policy-schema/policy.js";
import type { PolicyJsonSchema } from "../../../extproc/policy-schema/table.js";
import { findRepoRoot } from "../../../extproc/root.js";

type Json = Record<string, unknown>;

const RUNS = 200;

const SCHEMA = policyJsonSchema() as PolicyJsonSchema;
const isValid = new Ajv2020({ strict: false, allErrors: true }).compile(SCHEMA);
const read = (path: string) => readFileSync(join(findRepoRoot(), path), "utf8");

test("the schema's file and the tables are up to date; else run: npm run -s schema", () => {
  for (const { path, update } of policyFiles()) {
    const present = read(path);
    assert.equal(present, update(present), path);
    assert.ok(present.includes("failureRateThreshold"));
  }
});

/** Values of a kind that the schema describes; some are just beyond its bounds. */
function valuesOf(schema: PolicyJsonSchema): fc.Arbitrary<unknown> {
  const { minimum = 0, maximum = 1_000_000 } = schema as { minimum?: number; maximum?: number };
  const { maxItems = 3 } = schema as { maxItems?: number };
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "boolean":
      return fc.boolean();
    case "integer":
      return often(
        fc.integer({ min: minimum, max: maximum }),
        fc.constantFrom(minimum, maximum),
        fc.constantFrom(minimum - 1, maximum + 1, minimum + 0.5),
      );
    case "number":
      return often(
        fc.double({ min: minimum, max: maximum, noNaN: true }),
        fc.constantFrom(minimum, maximum),
        fc.constantFrom(-0.5, maximum + 1),
      );
    case "array":
      return often(
        fc.array(valuesOf(schema.items ?? {}), { maxLength: maxItems }),
        fc.constant([]),
        fc.array(valuesOf(schema.items ?? {}), { minLength: maxItems + 1, maxLength: maxItems + 1 }),
      );
    case "object":
      return objectOf(schema);
    case "string":
      return textOf(schema);
    default: {
      const { anyOf } = schema as { anyOf?: PolicyJsonSchema[] };
      return anyOf
        ? fc.oneof(...anyOf.map(valuesOf))
        : fc.jsonValue({ maxDepth: 3 }).filter((value) => value !== null);
    }
  }
}

/** Mostly the first two, or nothing would ever be right as a whole. */
function often(usual: fc.Arbitrary<unknown>, edge: fc.Arbitrary<unknown>, beyond: fc.Arbitrary<unknown>) {
  return fc.oneof(
    { weight: 40, arbitrary: usual },
    { weight: 20, arbitrary: edge },
    { weight: 1, arbitrary: beyond },
  );
}

function textOf({ pattern = "" }: PolicyJsonSchema & { pattern?: string }): fc.Arbitrary<string> {
  if (pattern.includes("ms|s|m|h"))
    return fc.oneof(
      {
        weight: 30,
        arbitrary: fc
          .tuple(fc.integer({ min: 1, max: 50 }), fc.constantFrom("s", "m"))
          .map(([n, unit]) => n + unit),
      },
      {
        weight: 6,
        arbitrary: fc.constantFrom(
          "0s",
          "0ms",
          "1ms",
          "100ms",
          "500ms",
          "1s",
          "60s",
          "1h",
          "2h",
          "24h",
          "0.5s",
        ),
      },
      { weight: 1, arbitrary: fc.constantFrom("25h", "1d", "5", "", "1.5.5s", "-1s") },
    );
  return fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom("gpu", "small", "chat", "qwen3-*", "/v1/x", "ä".repeat(30)) },
    { weight: 1, arbitrary: fc.constantFrom("", "x".repeat(64), "ä".repeat(40), 'a"b') },
  );
}

function objectOf(schema: PolicyJsonSchema): fc.Arbitrary<Json> {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(
    ([key, field]) => [key, valuesOf(field)] as const,
  );
  const whole = fc.record(Object.fromEntries(fields), { requiredKeys: [...required] });
  // Few at a time: of many fields one is always wrong.
  return fc
    .tuple(whole, fc.infiniteStream(fc.nat(9)))
    .map(([given, draws]) =>
      Object.fromEntries(
        Object.entries(given).filter(([key]) => required.has(key) || draws.next().value === 0),
      ),
    );
}

const named = (key: string) => SCHEMA.properties?.[key]?.additionalProperties as PolicyJsonSchema;
const tiers = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(["gpu"], ["gpu", "small"]) },
  { weight: 1, arbitrary: fc.constantFrom([], ["gpu", "gpu"], ["nobody"]) },
);
const policies: fc.Arbitrary<Json> = fc
  .record({
    top: objectOf({ ...SCHEMA, required: [], properties: without(SCHEMA.properties, "backends", "chains") }),
    backends: fc.record({ gpu: objectOf(named("backends")), small: objectOf(named("backends")) }),
    chain: fc.record({ fields: objectOf(named("chains")), tiers }),
    other: fc.option(fc.record({ models: fc.constantFrom(["gpu"], ["b", "c"]), tiers }), { nil: undefined }),
  })
  .map(({ top, backends, chain, other }) => ({
    ...top,
    backends,
    chains: { chat: { ...chain.fields, tiers: chain.tiers }, ...(other && { other }) },
  }));

function without(fields: PolicyJsonSchema["properties"], ...keys: string[]) {
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([key]) => !keys.includes(key)));
}

const faultsOf = (policy: unknown) =>
  (policySchema.safeParse(policy).error?.issues ?? []).map(
    ({ path, message }) => `${path.join(".")} ${message}`,
  );

test("what the schema takes the filter's parser takes, and nothing else", () => {
  let taken = 0;
  fc.assert(
    fc.property(policies, (policy) => {
      const faults = faultsOf(policy);
      const told = policyFaults(JSON.stringify(policy));
      assert.equal(faults.length === 0, told.length === 0, `${JSON.stringify(policy)}: ${faults} / ${told}`);
      if (faults.length > 0) return;
      taken++;
      assert.ok(isValid(policy), JSON.stringify(isValid.errors));
    }),
    { numRuns: RUNS },
  );
  assert.ok(taken > RUNS / 5 && taken < RUNS * 0.9, `${taken} of ${RUNS} were right`);
});

/** Every object and field of a policy but what probes send, which is anything. */
function placesIn(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const below = Object.entries(value).filter(([key]) => path.at(-1) !== "probe" || key !== "body");
  return [
    path,
    ...below.flatMap(([key, field]) => placesIn(field, [...path, Array.isArray(value) ? Number(key) : key])),
  ];
}

/** A copy with another value at a place. */
function changed(
  value: unknown,
  path: readonly (string | number)[],
  change: (old: unknown) => unknown,
): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(value);
  const copy = (Array.isArray(value) ? [...value] : { ...(value as Json) }) as Json;
  copy[key] = changed(copy[key], rest, change);
  return copy;
}

/** Of another kind, which no field takes. */
function otherKind(value: unknown): unknown {
  if (typeof value === "object" && !Array.isArray(value)) return [1];
  return typeof value === "boolean" ? "true" : { a: 1 };
}

test("an unknown key and a value of another kind are refused by both, wherever they stand", () => {
  const right = policies.filter((policy) => policySchema.safeParse(policy).success);
  fc.assert(
    fc.property(right, fc.nat(), fc.boolean(), (policy, draw, isKey) => {
      const places = placesIn(policy);
      const isMap = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
      const at = places[draw % places.length] ?? [];
      const wrong = changed(policy, at, (value) =>
        isKey && isMap(value) ? { ...(value as Json), nope: 1 } : otherKind(value),
      );
      assert.notDeepEqual(faultsOf(wrong), [], JSON.stringify(wrong));
      assert.notDeepEqual(policyFaults(JSON.stringify(wrong)), [], JSON.stringify(wrong));
      assert.ok(!isValid(wrong), JSON.stringify(wrong));
    }),
    { numRuns: RUNS / 4 },
  );
});

test("as many backends as the service hears of are taken by both, and one more by neither", () => {
  const policyOf = (count: number) => ({
    backends: Object.fromEntries(Array.from({ length: count }, (_, index) => [`b${index}`, {}])),
    chains: { chat: { tiers: ["b0"] } },
  });
  assert.ok(policySchema.safeParse(policyOf(512)).success);
  assert.deepEqual(policyFaults(JSON.stringify(policyOf(512))), []);
  assert.ok(!policySchema.safeParse(policyOf(513)).success);
  assert.deepEqual(policyFaults(JSON.stringify(policyOf(513))), ["backends must name at most 512 backends"]);
});

test("the defaults are those of the filter's source", () => {
  const policySource = read("filter/policy/policy.ts");
  const ofChains = policySource.slice(policySource.indexOf("export class Chain "));
  const ofBreakers = read("filter/breaker/config.ts") + policySource.slice(0, -ofChains.length);
  const units: Record<string, number> = { latencyDriftThreshold: 100, costRateThreshold: 100 };
  const compared: string[] = [];
  const compare = (source: string, fields: PolicyJsonSchema["properties"]) => {
    for (const [key, field] of Object.entries(fields ?? {})) {
      const [, initial] =
        new RegExp(`^  ${key}(?:Ms)?: (?:[iu]32|bool) = (\\d+|true|false);`, "m").exec(source) ?? [];
      const { default: value } = field;
      if (initial === undefined || value === undefined) continue;
      const told = typeof value === "string" ? durationMs(value) : value;
      assert.equal(String(typeof told === "number" ? told * (units[key] ?? 1) : told), initial, key);
      compared.push(key);
    }
  };
  const breaker = SCHEMA.properties?.breaker?.properties ?? {};
  for (const fields of [breaker, breaker.probe?.properties, breaker.canary?.properties])
    compare(ofBreakers, fields);
  compare(ofChains, named("chains").properties);
  assert.ok(compared.length >= 24, compared.join(", "));
});
