/** What stands between special tokens is mostly a line break or a role. Characters. */
const MAX_LENGTH = 24;
const MAX_KNOWN = 4096;

/** Token counts of short texts, so that the few that every prompt has are tokenized once. Bounded. */
export class ShortTexts {
  private readonly known = new Map<string, number>();

  /** The sum of those that are known, and the others. */
  count(texts: readonly string[]): { tokens: number; others: string[] } {
    let tokens = 0;
    const others: string[] = [];
    for (const text of texts) {
      const count = text.length <= MAX_LENGTH ? this.known.get(text) : undefined;
      if (count === undefined) others.push(text);
      else tokens += count;
    }
    return { tokens, others };
  }

  learn(text: string, tokens: number): void {
    if (text.length > MAX_LENGTH) return;
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(text, tokens);
  }
}
