import { createHash } from "node:crypto";

function digest(value: string): string {
  return createHash("sha256").update(value).digest("base64");
}

/**
 * Hashes of all header values a backend ever got, whole and word by word, so that a leaked credential can be asked for
 * in any header and with any scheme in front, while no secret is kept. Bounded: above `capacity` nothing new is
 * added and `overflowed` says that an absence proves nothing any more.
 */
export class SeenValues {
  readonly #digests = new Set<string>();
  readonly #capacity: number;
  overflowed = false;

  constructor(capacity = 200_000) {
    this.#capacity = capacity;
  }

  /** @param rawHeaders names and values in turn, as node:http gives them */
  record(rawHeaders: readonly string[]): void {
    for (let index = 1; index < rawHeaders.length; index += 2) {
      const value = rawHeaders[index] ?? "";
      this.#add(value);
      for (const word of value.split(/[\s;,=]+/)) this.#add(word);
    }
  }

  has(value: string): boolean {
    return this.#digests.has(digest(value));
  }

  #add(value: string): void {
    if (value === "") return;
    if (this.#digests.size >= this.#capacity) {
      this.overflowed = true;
      return;
    }
    this.#digests.add(digest(value));
  }
}
