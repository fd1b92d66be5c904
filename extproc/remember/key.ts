import { createHash } from "node:crypto";
import { isRecord, type JsonRecord } from "../body/json.js";

/** How the answer is to be sent, not what it is. */
const FORM_FIELDS = new Set(["stream", "stream_options"]);

/**
 * What must be equal for an answer to be given again: the caller, the endpoint and every field of the request but those
 * that only say in which form it is sent; `user` and `metadata` are among them. Order of keys, blanks and escapes don't
 * count. Undefined when the body nests too deep to be printed.
 */
export function keyOf(caller: string, path: string, body: JsonRecord): string | undefined {
  const asked = Object.fromEntries(Object.entries(body).filter(([name]) => !FORM_FIELDS.has(name)));
  try {
    const canonical = JSON.stringify(asked, (_name, value) => (isRecord(value) ? sorted(value) : value));
    return createHash("sha256")
      .update(JSON.stringify([caller, path, canonical]))
      .digest("base64url");
  } catch {
    return undefined;
  }
}

/** Without a prototype: a key may be `__proto__`. */
function sorted(record: JsonRecord): JsonRecord {
  const names = Object.keys(record);
  // Hostile bodies have a million of these.
  if (names.length < 2) return record;
  const copy: Record<string, unknown> = Object.create(null);
  for (const name of names.sort()) copy[name] = record[name];
  return copy;
}
