import { createHash, timingSafeEqual } from "node:crypto";
import { ConfigError } from "../config/errors.js";
import { readText } from "../config/text.js";
import { isPlain } from "./words.js";

const LEAST_LENGTH = 16;
const MAX_TOKENS = 1000;
const LINE = /^(?:([A-Za-z0-9._@-]{1,48}):)?([A-Za-z0-9._~+/=-]+)$/;

/** Bearer tokens and whose they are. Only their hashes are kept. */
export class Tokens {
  private constructor(private readonly known: readonly { name: string; hash: Buffer }[]) {}

  /** @throws ConfigError that names the field and the line; never what stands there. */
  static read(path: readonly string[], file: string): Tokens {
    let text: string;
    try {
      text = readText(file);
    } catch (cause) {
      throw ConfigError.of(path, `${file} can't be read: ${(cause as Error).message}`, cause);
    }
    const lines = text.split(/\r?\n/).map((line, index) => ({ line: line.trim(), number: index + 1 }));
    const used = lines.filter(({ line }) => line !== "" && !line.startsWith("#"));
    if (used.length === 0) throw ConfigError.of(path, `${file} holds no token`);
    if (used.length > MAX_TOKENS) throw ConfigError.of(path, `${file} holds more than ${MAX_TOKENS} tokens`);
    return new Tokens(
      used.map(({ line, number }) => {
        const [, name, token] = LINE.exec(line) ?? [];
        if (token === undefined || token.length < LEAST_LENGTH || !isPlain(line)) {
          throw ConfigError.of(
            path,
            `${file} line ${number} must be "name:token" with at least ${LEAST_LENGTH} letters, digits or ._~+/=- in the token`,
          );
        }
        return { name: name ?? `token of line ${number}`, hash: hashOf(token) };
      }),
    );
  }

  /** Whose an `authorization` header is. Takes as long for any token, wherever it differs. */
  whoIs(authorization: string | undefined): string | undefined {
    const [, token] = /^Bearer +([^\s]{1,4096})$/i.exec(authorization ?? "") ?? [];
    if (token === undefined) return undefined;
    const hash = hashOf(token);
    let found: string | undefined;
    for (const known of this.known) if (timingSafeEqual(known.hash, hash)) found ??= known.name;
    return found;
  }
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
