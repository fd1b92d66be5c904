import { stringify } from "yaml";
import type { JsonSchema } from "./json-schema.js";

const COLUMNS = 110;
const INDENT = "  ";

/**
 * A file with every setting, its description and its default. What has an example instead is shown by that, and
 * commented out unless `withExamples`: "#key: value" is off, "# text" is prose.
 */
export function toExample(schema: JsonSchema, withExamples = false): string {
  const blocks = Object.entries(schema.properties ?? {}).map(([key, setting]) =>
    linesOf(key, setting, undefined, withExamples).join("\n"),
  );
  return `${blocks.join("\n\n")}\n`;
}

/** `given` is what an example of the section above says of this setting. */
function linesOf(key: string, setting: JsonSchema, given: unknown, withExamples: boolean): string[] {
  const example = setting.examples?.[0];
  const value = given ?? example ?? setting.default;
  if (value === undefined) return [];
  const code = codeOf(key, setting, value, withExamples);
  const isOff = given === undefined && (example !== undefined || setting.default === undefined);
  return [
    ...prose(setting.description ?? ""),
    ...(isOff && !withExamples ? code.map((line) => `#${line}`) : code),
  ];
}

function codeOf(key: string, { properties }: JsonSchema, value: unknown, withExamples: boolean): string[] {
  if (properties === undefined) return yamlOf({ [key]: value });
  const values = value as Record<string, unknown>;
  const below = Object.entries(properties).flatMap(([name, setting]) =>
    linesOf(name, setting, values[name], withExamples),
  );
  return [`${key}:`, ...below.map((line) => INDENT + line)];
}

function yamlOf(value: Record<string, unknown>): string[] {
  const isListOfScalars = Object.values(value).some(
    (entry) => Array.isArray(entry) && entry.every((item) => typeof item !== "object"),
  );
  const text = stringify(value, {
    lineWidth: 0,
    flowCollectionPadding: false,
    collectionStyle: isListOfScalars ? "flow" : "any",
  });
  // A flow map would put its braces around the key as well.
  return (isListOfScalars ? text.trim().replace(/^\{(.*)\}$/s, "$1") : text.trimEnd()).split("\n");
}

function prose(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ").filter((each) => each !== "")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < COLUMNS)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`# ${word}`);
  }
  return lines;
}
