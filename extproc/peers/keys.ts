import { createHmac, hkdfSync } from "node:crypto";
import { ConfigError } from "../config/errors.js";
import { readText } from "../config/text.js";

/** Characters of a secret, which `openssl rand -hex 32` gives twice over. */
const LEAST_CHARACTERS = 32;
/** The present one, the next one, and what a slow roll-out leaves behind. */
export const MAX_KEYS = 4;
const FIELD = ["peers", "keyFile"] as const;

/** What is derived from one line of the key file. Never written anywhere. */
export interface GroupKey {
  /** Seals messages. 32 bytes. */
  readonly seal: Buffer;
  /** Encrypts connections before anybody is greeted. 32 bytes. */
  readonly network: Buffer;
  /** Tells which key is meant, to those who have it. 8 bytes. */
  readonly id: Buffer;
}

/**
 * The file's keys: the first one seals, all are taken.
 * @throws ConfigError for a file that can't be read or holds no key.
 */
export function readKeys(path: string): GroupKey[] {
  let text: string;
  try {
    text = readText(path);
  } catch (cause) {
    throw ConfigError.of(FIELD, `must be a file that can be read: ${(cause as Error).message}`, cause);
  }
  return parseKeys(text);
}

/** @throws ConfigError that tells the line, never what is in it. */
export function parseKeys(text: string): GroupKey[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  if (lines.length === 0 || lines.length > MAX_KEYS) {
    throw ConfigError.of(FIELD, `must hold 1 to ${MAX_KEYS} lines with a secret each, got ${lines.length}`);
  }
  lines.forEach((line, at) => {
    if (Buffer.byteLength(line) >= LEAST_CHARACTERS) return;
    const rule = `must hold secrets of at least ${LEAST_CHARACTERS} bytes, like those of "openssl rand -hex 32"; secret ${at + 1} is shorter`;
    throw ConfigError.of(FIELD, rule);
  });
  return lines.map(deriveKey);
}

function deriveKey(secret: string): GroupKey {
  const derive = (use: string) => Buffer.from(hkdfSync("sha256", secret, "llm-breaker peers", use, 32));
  const id = createHmac("sha256", derive("id")).update("id").digest().subarray(0, 8);
  return { seal: derive("seal 1"), network: derive("network 1"), id };
}
