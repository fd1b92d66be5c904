import { toJsonSchema } from "../config/json-schema.js";
import { toTable } from "../config/table.js";
import { policySchema } from "./policy-schema.js";

/** What follows from policy.yaml's schema; `update` takes a file's text and gives what it has to be. */
export interface SchemaText {
  readonly path: string;
  update(present: string): string;
}

/** For editors: `# yaml-language-server: $schema=…` in policy.yaml. */
export function renderSchemaFile(): SchemaText {
  const schema = policyJsonSchema();
  const backend = schema.properties?.backends?.additionalProperties;
  // `gpu:` alone is a cluster that is there already.
  if (typeof backend === "object") Object.assign(backend, { type: ["object", "null"] });
  return { path: "envoy/render.schema.json", update: () => `${JSON.stringify(schema, undefined, 2)}\n` };
}

/** For people: the table of all keys. */
export function renderTableFile(): SchemaText {
  const table = toTable(policyJsonSchema()).replaceAll("`backends.<name>.", "`backends.<alias>.");
  return {
    path: "docs/configuration.md",
    update: (present) =>
      present.replace(
        /(<!-- policy\.yaml -->\n)[\s\S]*?(<!-- \/policy\.yaml -->)/,
        (_all, start, end) => `${start}${table}\n${end}`,
      ),
  };
}

function policyJsonSchema() {
  return toJsonSchema(policySchema, "What `llm-breaker render` writes YAML from: policy.yaml");
}
