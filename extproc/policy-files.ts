import { type JsonSchema, toJsonSchema } from "./config/json-schema.js";
import type { ConfigFileText } from "./config-files.js";
import { policySchema } from "./policy-schema/policy.js";
import { toPolicyTable } from "./policy-schema/table.js";

const SCHEMA_PATH = "envoy/policy.schema.json";
const TABLES_PATH = "docs/configuration.md";
/** Only the tables' rows need them. */
const ROW_KEYS: ReadonlySet<string> = new Set(["shown", "bounds", "isWhole"]);

/** What follows from the policy's schema: editors complete by the one, people read the other. */
export function policyFiles(): ConfigFileText[] {
  const schema = policyJsonSchema();
  const { breaker, chains } = schema.properties ?? {};
  const tables: Readonly<Record<string, string>> = {
    policy: toPolicyTable(schema, { backends: "alias" }),
    breaker: toPolicyTable(breaker ?? {}),
    chain: toPolicyTable(chains?.additionalProperties as JsonSchema),
  };
  const text = JSON.stringify(schema, (key, value) => (ROW_KEYS.has(key) ? undefined : value), 2);
  return [
    { path: SCHEMA_PATH, update: () => `${text}\n` },
    {
      path: TABLES_PATH,
      update: (present) =>
        present.replaceAll(/(<!-- (\w+) fields -->\n).*?(<!-- \/\2 fields -->)/gs, (all, start, name, end) =>
          tables[name] === undefined ? all : `${start}${tables[name]}\n${end}`,
        ),
    },
  ];
}

export function policyJsonSchema(): JsonSchema {
  return toJsonSchema(policySchema, "The policy of the LLM circuit breaker");
}
