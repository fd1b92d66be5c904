// Files of operators: settings, policies, the Envoy files that `check` judges.
import assert from "node:assert/strict";
import { checkFiles } from "../../../extproc/check/check.js";
import { readJson } from "../../../extproc/check/tree/json.js";
import { SourceText } from "../../../extproc/check/tree/source-text.js";
import { readYaml } from "../../../extproc/check/tree/yaml.js";
import { readDocument } from "../../../extproc/config/document.js";
import { ConfigError } from "../../../extproc/config/errors.js";
import { SettingsFile } from "../../../extproc/config/load.js";
import { policySchema } from "../../../extproc/policy-schema/policy.js";
import { readPolicy } from "../../../extproc/render/policy-file.js";
import { serviceSchema } from "../../../extproc/service-config.js";
import { POLICIES, POLICY_WORDS } from "../corpus/policies.js";
import { ENVOY_FILES, SETTINGS, YAML_WORDS } from "../corpus/yaml.js";
import { FilterParsers } from "../support/filter-parsers.js";
import { sessionOf, toBuffers, unlessDeclared } from "../support/plain-session.js";
import { sizeClass, strictJson } from "../support/told.js";
import type { Target } from "../target.js";

/** A file of this size is large for one of them, and its YAML is read by another's code. */
const LINEAR_BYTES = 32_768;
const file = new SettingsFile(serviceSchema, "/etc/service.yaml", "LLM_BREAKER_CONFIG");

export const serviceConfig: Target = {
  name: "service-config",
  parsers: ["extproc/config/document.ts"],
  seeds: toBuffers(SETTINGS),
  words: YAML_WORDS,
  maxBytes: 300,
  caseMs: 200,
  linearBytes: LINEAR_BYTES,
  open: sessionOf((bytes) => {
    const document = readDocument(bytes.toString("utf8"));
    if ("problems" in document) {
      assert.ok(document.problems.length > 0, "neither a document nor a problem");
      return "";
    }
    const { value } = document;
    document.positionOf(Object.keys(value ?? {}).slice(0, 1), true);
    return `${typeof value},${sizeClass(Object.keys(value ?? {}).length)}`;
  }),
};

const OPERATORS_POLICIES = [
  'name: chat\nbackends:\n  vllm:\n  rented: { url: "http://10.0.0.7:8000" }\n  public: { url: "https://api.example.com/v1", model: m, keyFile: /etc/k.yaml }\nchains:\n  chat: { tiers: [vllm, rented, public] }\n',
  "backends: { a: { url: http://a:1, breaker: { slidingWindowSize: 10 } } }\nchains: { c: { tiers: [a], models: ['*'] } }\nservice: 127.0.0.1\n",
];

export const serviceSettings: Target = {
  name: "service-settings",
  parsers: ["errors", "fields", "issues", "load"].map((name) => `extproc/config/${name}.ts`),
  seeds: toBuffers(SETTINGS),
  words: YAML_WORDS,
  maxBytes: 300,
  caseMs: 200,
  oneCaseFor: 10,
  linearBytes: 0,
  open: sessionOf((bytes) => {
    try {
      return Object.keys(file.parse(bytes.toString("utf8"))).join();
    } catch (cause) {
      if (!(cause instanceof ConfigError)) throw cause;
      assert.ok(cause.message.length < 20_000, "a message without a bound");
      return cause.problems
        .map(({ path }) => path.join("."))
        .slice(0, 3)
        .join()
        .slice(0, 60);
    }
  }),
};

export const serviceRender: Target = {
  name: "service-render-policy",
  parsers: [
    "extproc/render/policy-file.ts",
    "extproc/render/policy-schema.ts",
    "extproc/render/planned-backend.ts",
  ],
  seeds: toBuffers([...OPERATORS_POLICIES, ...POLICIES]),
  words: [...YAML_WORDS, "url: ", "https://", "keyFile: ", "tiers: "],
  maxBytes: 600,
  caseMs: 200,
  oneCaseFor: 20,
  linearBytes: 0,
  open: sessionOf((bytes) => {
    const plan = unlessDeclared(() => readPolicy(bytes.toString("utf8"), "policy.yaml"), ConfigError);
    return plan === undefined ? "" : `${sizeClass(JSON.stringify(plan).length)}`;
  }),
};

export const servicePolicy: Target = {
  name: "service-policy",
  parsers: ["breaker", "chain", "fields", "outcomes", "policy", "triggers"].map(
    (name) => `extproc/policy-schema/${name}.ts`,
  ),
  seeds: toBuffers(POLICIES),
  words: POLICY_WORDS,
  maxBytes: 900,
  linearBytes: 0,
  open: () => {
    const parsers = new FilterParsers();
    return {
      run: (bytes) => {
        const json = strictJson(bytes);
        if (json === undefined) return "";
        const { success, error } = policySchema.safeParse(json.value);
        const size = parsers.ask("policyFaults", bytes);
        const faults = parsers.room(Math.min(size, 2000)).toString("utf8");
        // One of these leaves megabytes behind; of several at once the heap would grow.
        parsers.call.collect?.();
        // Parsed by V8 the second of two keys counts; and no policy nests so deep.
        const isJsonOnly = /duplicate key|nested too deeply/.test(faults);
        if (!isJsonOnly) assert.equal(size === 0, success, `the gate says: ${faults || "good"}`);
        return success
          ? "good"
          : (error?.issues ?? [])
              .map(({ path }) => path.join("."))
              .slice(0, 3)
              .join()
              .slice(0, 80);
      },
      memoryBytes: () => parsers.byteLength,
    };
  },
};

export const serviceCheckYaml: Target = {
  name: "service-check-yaml",
  parsers: ["yaml", "json", "located", "source-text"].map((name) => `extproc/check/tree/${name}.ts`),
  seeds: toBuffers([...SETTINGS, ...ENVOY_FILES.map((text) => text.slice(0, 200))]),
  words: YAML_WORDS,
  maxBytes: 300,
  caseMs: 200,
  linearBytes: LINEAR_BYTES,
  open: sessionOf((bytes) => {
    const { roots, problems } = readYaml("a.yaml", bytes.toString("utf8"));
    for (const { at, text } of problems)
      assert.ok(at.place.line >= 1 && text.length <= 200, "an odd problem");
    return problems.length > 0
      ? ""
      : roots
          .map(({ fields, items }) => `${fields.size}/${items.length}`)
          .slice(0, 4)
          .join();
  }),
};

export const serviceCheck: Target = {
  name: "service-check",
  parsers: [
    "extproc/check/check.ts",
    ...["envoy", "filters", "mesh", "policy", "read", "resources", "told-cluster"].map(
      (name) => `extproc/check/setup/${name}.ts`,
    ),
  ],
  seeds: toBuffers([...ENVOY_FILES, ...SETTINGS, ...POLICIES]),
  words: YAML_WORDS,
  maxBytes: 1500,
  caseMs: 400,
  oneCaseFor: 50,
  linearBytes: 0,
  open: sessionOf((bytes) => {
    const text = bytes.toString("utf8");
    const { findings, usesBreaker, setup } = checkFiles([{ name: "envoy.yaml", text }]);
    for (const { line, column, what } of findings) {
      assert.ok(
        line >= 1 && column >= 1 && line <= text.split(/\r\n|\n|\r/).length + 1,
        "a place outside of the file",
      );
      assert.ok(what.length < text.length + 1000, "a finding without a bound");
    }
    const problems = (setup as unknown as { problems?: unknown[] }).problems ?? [];
    return `${usesBreaker},${findings.map(({ rule }) => rule).slice(0, 5)},${problems.length}`;
  }),
};

export const serviceCheckJson: Target = {
  name: "service-check-json",
  parsers: ["extproc/check/tree/json.ts", "extproc/check/tree/located.ts"],
  seeds: toBuffers([...POLICIES, ...SETTINGS.slice(-1)]),
  words: POLICY_WORDS,
  open: sessionOf((bytes) => {
    const json = strictJson(bytes);
    const read = readJson(new SourceText("a.json", bytes.toString("utf8")));
    if (read === undefined) return "";
    assert.ok(
      json !== undefined || !Buffer.from(bytes.toString("utf8")).equals(bytes),
      "what is no JSON is taken",
    );
    return `${read.fields.size},${read.items.length}`;
  }),
};
