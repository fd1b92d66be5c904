import type { JsonSchema } from "../config/json-schema.js";

/** What fields.ts notes for the rows. */
export interface PolicyJsonSchema extends JsonSchema {
  readonly shown?: string;
  readonly bounds?: string;
  readonly isWhole?: boolean;
  readonly enum?: readonly unknown[];
}

const HEAD = ["| field | default | bounds | meaning |", "|---|---|---|---|"];

/** A Markdown table of the fields below `schema`. `names`: what a key stands for, by the map it is a key of. */
export function toPolicyTable(schema: JsonSchema, names: Readonly<Record<string, string>> = {}): string {
  return [...HEAD, ...rowsOf("", schema, names)].join("\n");
}

function rowsOf(prefix: string, schema: JsonSchema, names: Readonly<Record<string, string>>): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const entry = field.additionalProperties;
    if (typeof entry === "object")
      return rowAndBelow(`${prefix}${key}.<${names[key] ?? "name"}>`, entry, names);
    return rowAndBelow(prefix + key, field, names);
  });
}

function rowAndBelow(
  name: string,
  field: PolicyJsonSchema,
  names: Readonly<Record<string, string>>,
): string[] {
  const own = field.description === undefined ? [] : [rowOf(name, field)];
  return field.isWhole ? own : [...own, ...rowsOf(`${name}.`, field, names)];
}

function rowOf(name: string, field: PolicyJsonSchema): string {
  const meaning = (field.description ?? "").replaceAll("|", "\\|");
  const bounds = field.bounds ?? field.enum?.map((value) => `\`${value}\``).join(", ") ?? "";
  const cells = [`\`${name}\``, field.shown ?? showDefault(field.default), bounds, meaning];
  return `|${cells.map((cell) => (cell === "" ? " " : ` ${cell} `)).join("|")}|`;
}

function showDefault(value: unknown): string {
  if (value === undefined) return "";
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}
