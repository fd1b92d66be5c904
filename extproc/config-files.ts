import { toExample } from "./config/example.js";
import { type JsonSchema, toJsonSchema } from "./config/json-schema.js";
import { toTable } from "./config/table.js";
import { serviceSchema } from "./service-config.js";

/** A file of the repository that follows from the schema. */
export interface ConfigFileText {
  readonly path: string;
  /** What it should hold, given what it holds. */
  update(present: string): string;
}

const SCHEMA_PATH = "extproc/config.schema.json";
const TABLE = /(<!-- settings -->\n).*?(<!-- \/settings -->)/s;

const HEAD = `# yaml-language-server: $schema=../${SCHEMA_PATH}
# The service's settings with their defaults: LLM_BREAKER_CONFIG=envoy/service.yaml. A line like "#key: value" is an example
# that is off. A change comes into use without a restart. Written by \`npm run -s schema\`.

`;

/** Editors complete by the schema; the example and the table in the README can't be out of date. */
export function configFiles(): ConfigFileText[] {
  const schema = serviceJsonSchema();
  return [
    { path: SCHEMA_PATH, update: () => `${JSON.stringify(schema, undefined, 2)}\n` },
    { path: "envoy/service.yaml", update: () => HEAD + toExample(schema) },
    {
      path: "extproc/README.md",
      update: (present) => present.replace(TABLE, (_, start, end) => `${start}${toTable(schema)}\n${end}`),
    },
  ];
}

export function serviceJsonSchema(): JsonSchema {
  return toJsonSchema(serviceSchema, "The service of the LLM circuit breaker");
}
