import { QUOTE } from "./json-bytes.js";

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The JSON object in `bytes`; undefined for anything else, broken JSON included. */
export function parseObject(bytes: Buffer): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The JSON string in `bytes`; undefined for anything else, which is not even parsed. */
export function parseText(bytes: Buffer): string | undefined {
  if (bytes[0] !== QUOTE) return undefined;
  try {
    return JSON.parse(bytes.toString("utf8")) as string;
  } catch {
    return undefined;
  }
}

/**
 * JSON as Python's `json.dumps(value, ensure_ascii=False)` spells it, a blank after each `,` and `:`: chat templates
 * print tools that way. Linear and without recursion of our own, since a body nests as deep as its sender likes.
 * @throws RangeError when V8 can't print something nested that deep.
 */
export function toPythonJson(value: unknown): string {
  const compact = JSON.stringify(value) ?? "null";
  const parts: string[] = [];
  let from = 0;
  while (from < compact.length) {
    const quote = compact.indexOf('"', from);
    const stringStart = quote === -1 ? compact.length : quote;
    parts.push(compact.slice(from, stringStart).replace(/[,:]/g, "$& "));
    from = quote === -1 ? compact.length : endOfString(compact, quote);
    parts.push(compact.slice(stringStart, from));
  }
  return parts.join("");
}

/** The index after the closing quote of the string that starts at `from` in valid JSON. */
function endOfString(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let escapes = at;
    while (json[escapes - 1] === "\\") escapes--;
    if ((at - escapes) % 2 === 0) return at + 1;
  }
  return json.length;
}
