import { readFileSync } from "node:fs";
import { parse as parseYaml } from "yaml";
import type { z } from "zod";
import { ConfigError } from "./errors.js";
import { describeIssue } from "./issues.js";

/**
 * Defaults, then everything validated at once.
 * @throws ConfigError whose one-line message names each bad field, the rule and what was given.
 */
export function checkSettings<Schema extends z.ZodType>(schema: Schema, raw: unknown): z.output<Schema> {
  const parsed = schema.safeParse(raw ?? {}, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new ConfigError(`EXTPROC config: ${parsed.error.issues.flatMap(describeIssue).join("; ")}`);
}

/**
 * `source` says what named the file, for the message when it can't be read.
 * @throws ConfigError when the file can't be read, is no YAML, or has a bad field.
 */
export function readSettings<Schema extends z.ZodType>(
  schema: Schema,
  file: string,
  source: string,
): z.output<Schema> {
  return checkSettings(schema, readYaml(file, source));
}

function readYaml(file: string, source: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const remedy = `${source} must name a readable YAML file (unset it for the defaults)`;
    throw new ConfigError(`EXTPROC config: ${remedy}, got ${JSON.stringify(file)}`, { cause });
  }
  try {
    return parseYaml(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n", 1)[0] : String(cause);
    throw new ConfigError(`EXTPROC config: ${file} must be valid YAML: ${reason}`, { cause });
  }
}
