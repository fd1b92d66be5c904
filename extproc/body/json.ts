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

/**
 * JSON as Python's `json.dumps(value, ensure_ascii=False)` spells it, blanks after `,` and `:` included: chat
 * templates print tools that way. Written without recursion of our own: a body nests as deep as its sender likes.
 */
export function toPythonJson(value: unknown): string {
  const spread = JSON.stringify(value, undefined, 1);
  if (spread === undefined) return "null";
  // A line break in the spread form is always layout: inside strings JSON.stringify escapes it.
  return spread.replace(
    /([[{])?\n *(?=([\]}])?)/g,
    (_layout, open?: string, close?: string) => open ?? (close ? "" : " "),
  );
}
