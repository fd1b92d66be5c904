import { createHash, timingSafeEqual } from "node:crypto";
import { ConfigError } from "../config/errors.js";
import { readText } from "../config/text.js";
import type { SyncSettings } from "./settings.js";

const LEAST_LENGTH = 16;
/** What a header may carry. */
const TOKEN = /^[\x21-\x7e]+$/;

/** Whether a request with this header `authorization` may sync. */
export type Admission = (authorization: string | undefined) => boolean;

/**
 * Everybody may, or whoever has the token.
 * @throws ConfigError when the token's file can't be read or holds none.
 */
export function readAdmission(settings: SyncSettings): Admission {
  if (settings === undefined) return () => true;
  const expected = digest(`bearer ${readToken(settings.tokenFile)}`);
  // Digests are of one length, and tell nothing of how alike the texts are.
  return (authorization = "") =>
    timingSafeEqual(digest(authorization.replace(/^bearer +/i, "bearer ")), expected);
}

function readToken(file: string): string {
  const path = ["sync", "tokenFile"];
  let token: string;
  try {
    token = readText(file).trim();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw ConfigError.of(path, `must name a readable file, got ${JSON.stringify(file)}: ${reason}`, cause);
  }
  if (token.length >= LEAST_LENGTH && TOKEN.test(token)) return token;
  throw ConfigError.of(
    path,
    `must name a file with one token of at least ${LEAST_LENGTH} characters without white space`,
  );
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
