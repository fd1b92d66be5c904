/** A size as a few classes, so that each more digit is news and each more byte is none. */
export function sizeClass(size: number): number {
  return size <= 2 ? size : Math.floor(Math.log2(size)) + 2;
}

/** How often `text` stands in `whole`, in letters of any case. */
export function occurrences(whole: string, text: string): number {
  return whole.toLowerCase().split(text).length - 1;
}

/** Without half characters, which UTF-8 has no bytes for. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** What the bytes are as JSON; undefined for anything else, and for bytes that are no UTF-8. */
export function strictJson(bytes: Buffer): { value: unknown; text: string } | undefined {
  const text = bytes.toString("utf8");
  if (!Buffer.from(text).equals(bytes)) return undefined;
  try {
    return { value: JSON.parse(text), text };
  } catch {
    return undefined;
  }
}
