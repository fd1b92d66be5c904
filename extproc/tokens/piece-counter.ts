import type { Splitter } from "./ascii-splitter.js";

/** Longer pieces are no words that come again. Characters. */
const MAX_PIECE_LENGTH = 32;
/** A few megabytes; all of them go when there are more. */
const MAX_KNOWN = 32_768;
/** With more unknown pieces the library takes the whole text at once, which costs less. */
const MAX_UNKNOWN = 128;

type Tokenize = (texts: readonly string[]) => Promise<readonly number[]>;

/**
 * Counts texts by the pieces that their tokens never cross: most are words that were counted before, so that the
 * library tokenizes only the new ones. The same number as for the whole text, at a quarter of the cost.
 */
export class PieceCounter {
  private readonly known = new Map<string, number>();

  constructor(
    private readonly tokenize: Tokenize,
    private readonly split: Splitter | undefined,
  ) {}

  async count(texts: readonly string[]): Promise<number> {
    let tokens = 0;
    const whole: string[] = [];
    const pieces: string[] = [];
    const unknown = new Set<string>();
    for (const text of texts) {
      const parts = this.known.has(text) ? [text] : this.split?.(text);
      const fresh = parts?.filter((part) => !this.known.has(part));
      if (parts === undefined || fresh === undefined || fresh.length > MAX_UNKNOWN) whole.push(text);
      else for (const part of parts) tokens += this.known.get(part) ?? 0;
      if (fresh === undefined) continue;
      if (fresh.length <= MAX_UNKNOWN) pieces.push(...fresh);
      for (const part of fresh.slice(0, MAX_UNKNOWN)) unknown.add(part);
    }
    if (whole.length + unknown.size === 0) return tokens;
    const asked = [...whole, ...unknown];
    const lengths = await this.tokenize(asked);
    const learnt = new Map(asked.map((text, index) => [text, lengths[index] ?? 0]));
    for (const text of asked) this.learn(text, learnt.get(text) ?? 0);
    for (const text of [...whole, ...pieces]) tokens += learnt.get(text) ?? 0;
    return tokens;
  }

  private learn(piece: string, tokens: number): void {
    if (piece.length > MAX_PIECE_LENGTH) return;
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(copyOf(piece), tokens);
  }
}

/** A piece is a slice to V8, and a slice keeps the whole text that it was cut from. */
function copyOf(piece: string): string {
  return Buffer.from(piece, "utf16le").toString("utf16le");
}
