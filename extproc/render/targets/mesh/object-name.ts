import { createHash } from "node:crypto";

/** What Kubernetes allows most kinds of objects. */
export const NAME_LIMIT = 63;
const DIGEST_LENGTH = 8;

/**
 * A name that Kubernetes takes, of at most `limit` characters. What is cut ends with a digest of the whole: two long names with one
 * beginning must not be one object.
 */
export function objectName(parts: readonly string[], limit = NAME_LIMIT): string {
  const given = parts.join("-");
  const name = given
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  if (name.length <= limit) return name;
  const digest = createHash("sha256").update(given).digest("hex").slice(0, DIGEST_LENGTH);
  return `${name.slice(0, limit - DIGEST_LENGTH - 1).replace(/-+$/, "")}-${digest}`;
}
