import type { JsonSchema } from "./json-schema.js";

/** A Markdown table of all settings: `limits.classes.<name>.concurrent`, `tokenizers[].models`. */
export function toTable(schema: JsonSchema): string {
  return ["| key | default | meaning |", "|---|---|---|", ...rowsOf("", schema)].join("\n");
}

function rowsOf(prefix: string, schema: JsonSchema): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, setting]) => {
    const name = `${prefix}${key}`;
    const isRequired = schema.required?.includes(key) === true;
    return [rowOf(name, setting, isRequired), ...rowsBelow(name, setting)];
  });
}

function rowsBelow(name: string, setting: JsonSchema): string[] {
  const { items, additionalProperties } = setting;
  if (items !== undefined) return rowsOf(`${name}[].`, items);
  if (typeof additionalProperties === "object") return rowsOf(`${name}.<name>.`, additionalProperties);
  return rowsOf(`${name}.`, setting);
}

function rowOf(name: string, setting: JsonSchema, isRequired: boolean): string {
  const meaning = (setting.description ?? "").replaceAll("|", "\\|");
  return `| \`${name}\` | ${isRequired ? "required" : showDefault(setting)} | ${meaning} |`;
}

function showDefault({ default: value, properties }: JsonSchema): string {
  if (value === undefined) return "none";
  if (properties !== undefined) return "";
  if (isEmpty(value)) return "none";
  return `\`${Array.isArray(value) ? value.join(", ") : String(value)}\``;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
