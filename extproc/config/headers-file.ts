import { ConfigError } from "./errors.js";
import { readText } from "./text.js";

const MAX_HEADERS = 32;
const HEADER = /^([A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}):[ \t]*([\x20-\x7e\t]{1,8192})$/;
const NOTHING = /^$/;

/**
 * Headers in a file, one a line as `name: value`; lines that begin with # are comments. What stands in it is in no message.
 * @param field the setting that names the file
 * @param reserved names, in lower case, that are not the file's to set
 * @throws ConfigError when it can't be read, or a line is none.
 */
export function readHeadersFile(
  file: string,
  field: readonly PropertyKey[],
  reserved: RegExp = NOTHING,
): Record<string, string> {
  return parseHeaders(readFile(file, field), field, reserved);
}

/** @throws ConfigError */
export function parseHeaders(
  text: string,
  field: readonly PropertyKey[],
  reserved: RegExp,
): Record<string, string> {
  const lines = text
    .split(/\r?\n/)
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "" && !line.startsWith("#"));
  if (lines.length > MAX_HEADERS) throw ConfigError.of(field, `must hold at most ${MAX_HEADERS} headers`);
  const headers: Record<string, string> = {};
  for (const { line, number } of lines) {
    const [, given = "", value = ""] = HEADER.exec(line) ?? [];
    const name = given.toLowerCase();
    if (name === "") throw ConfigError.of(field, `line ${number} must be "name: value"`);
    if (reserved.test(name))
      throw ConfigError.of(field, `line ${number} must not set ${name}, which is ours`);
    headers[name] = value;
  }
  return headers;
}

function readFile(file: string, field: readonly PropertyKey[]): string {
  try {
    return readText(file);
  } catch (cause) {
    throw ConfigError.of(field, `must be a file that can be read: ${(cause as Error).message}`, cause);
  }
}
