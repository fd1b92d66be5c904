import { createHash } from "node:crypto";
import { REPEATED, type RequestHeaders } from "../request-headers.js";
import type { CallerSettings } from "./settings.js";

/**
 * Who sent a request: the SHA-256 (base64url) of the first header in `settings.headers` that it has. Undefined when it
 * has none of them, or has that one twice: which of the two a backend reads is its choice, and whoever adds another each time
 * would be another caller each time. The header itself is neither kept nor logged.
 */
export function callerOf(headers: RequestHeaders, settings: CallerSettings): string | undefined {
  for (const name of settings.headers) {
    const value = headers.get(name) ?? "";
    if (value.includes(REPEATED)) return undefined;
    const identity = withoutScheme(value);
    if (identity !== "") return createHash("sha256").update(identity).digest("base64url");
  }
  return undefined;
}

/** The same key is the same caller in `authorization`, however its scheme is spelled, and in `x-api-key`. */
function withoutScheme(value: string): string {
  return value.trim().replace(/^bearer\s+/i, "");
}
