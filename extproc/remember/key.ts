import { createHash } from "node:crypto";
import { isRecord, type JsonRecord } from "../body/json.js";

/** How the answer is to be sent, not what it is. */
const FORM_FIELDS = new Set(["stream", "stream_options"]);

/**
 * What must be equal for an answer to be given again: the caller, the endpoint and every field of the request but those
 * that only say in which form it is sent; `user` and `metadata` are among them. Order of keys, blanks and escapes don't
 * count. Undefined when the body nests too deep to be printed, or has numbers too large to be told apart.
 */
export function keyOf(caller: string, path: string, body: JsonRecord): string | undefined {
  const asked = Object.fromEntries(Object.entries(body).filter(([name]) => !FORM_FIELDS.has(name)));
  try {
    const text = JSON.stringify(asked, (_name, value) => canonical(value));
    return createHash("sha256")
      .update(JSON.stringify([caller, path, text]))
      .digest("base64url");
  } catch {
    return undefined;
  }
}

/** @throws RangeError for a number that is not what it was in the body: 2^53 + 1 is another seed than 2^53. */
function canonical(value: unknown): unknown {
  if (isRecord(value)) return sorted(value);
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new RangeError("a number is not exact");
  return value;
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
