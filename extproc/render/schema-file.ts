import { toJsonSchema } from "../config/json-schema.js";
import { policySchema } from "./policy-schema.js";

/** For editors: `# yaml-language-server: $schema=…` in policy.yaml. */
export function renderSchemaFile(): { readonly path: string; update(): string } {
  const schema = toJsonSchema(policySchema, "What `llm-breaker render` writes YAML from: policy.yaml");
  const backend = schema.properties?.backends?.additionalProperties;
  // `gpu:` alone is a cluster that is there already.
  if (typeof backend === "object") Object.assign(backend, { type: ["object", "null"] });
  return { path: "envoy/render.schema.json", update: () => `${JSON.stringify(schema, undefined, 2)}\n` };
}
