import { validateHeaderName, validateHeaderValue } from "node:http";
import { ConfigError } from "../config/errors.js";
import { readText } from "../config/text.js";

const FIELD = ["traces", "headersFile"];

/**
 * Headers in a file, one a line as `name: value`. Values are in no message.
 * @throws ConfigError when it can't be read or a line is no header.
 */
export function readHeadersFile(file: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (file === undefined) return headers;
  for (const [index, line] of readLines(file).entries()) {
    if (line.trim() === "") continue;
    const at = line.indexOf(":");
    const name = line.slice(0, at).trim().toLowerCase();
    const value = line.slice(at + 1).trim();
    if (at < 1 || value === "" || !isHeader(name, value)) {
      throw ConfigError.of(FIELD, `must name a file of lines like "name: value"; line ${index + 1} is none`);
    }
    headers[name] = value;
  }
  return headers;
}

function readLines(file: string): string[] {
  try {
    return readText(file).split(/\r?\n/);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw ConfigError.of(FIELD, `must name a readable file, got ${JSON.stringify(file)}: ${reason}`, cause);
  }
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
