/** One special token as a tokenizer file names it. The flags: it swallows blanks before, after it. */
export interface Mark {
  readonly content: string;
  readonly lstrip: boolean;
  readonly rstrip: boolean;
}

/** Stands inside a mark that a caller's text imitates, so that it is none in the rendered prompt. Private use. */
const BREAK = "\ue0ff";

/** The special tokens of a vocabulary: they come from templates only, in a caller's text they are text. */
export class Marks {
  private readonly pattern: RegExp | undefined;
  private readonly everyPattern: RegExp | undefined;
  private readonly byContent: ReadonlyMap<string, Mark>;

  constructor(marks: readonly Mark[]) {
    const known = marks.filter(({ content }) => content.length > 1);
    this.byContent = new Map(known.map((mark) => [mark.content, mark]));
    if (known.length === 0) return;
    // The longest first, as tokenizers prefer it.
    const contents = [...this.byContent.keys()].sort((a, b) => b.length - a.length);
    const source = contents.map((content) => content.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&")).join("|");
    this.pattern = new RegExp(source);
    this.everyPattern = new RegExp(`(${source})`, "g");
  }

  /** These and `more`. */
  with(more: readonly Mark[]): Marks {
    return more.length === 0 ? this : new Marks([...this.byContent.values(), ...more]);
  }

  areImitatedBy(text: string): boolean {
    return this.pattern?.test(text) ?? false;
  }

  /** The text with its imitated marks broken, which `cut` mends. */
  guard(text: string): string {
    if (this.everyPattern === undefined || !this.areImitatedBy(text)) return text;
    return text.replace(this.everyPattern, (mark) => `${mark.slice(0, 1)}${BREAK}${mark.slice(1)}`);
  }

  /** The text between the marks, each piece tokenized on its own as tokenizers do, and the number of marks. */
  cut(rendered: string): { segments: string[]; count: number } {
    const pieces = this.everyPattern ? rendered.split(this.everyPattern) : [rendered];
    const segments: string[] = [];
    for (let at = 0; at < pieces.length; at += 2) {
      let segment = pieces[at] ?? "";
      if (this.byContent.get(pieces[at - 1] ?? "")?.rstrip) segment = segment.trimStart();
      if (this.byContent.get(pieces[at + 1] ?? "")?.lstrip) segment = segment.trimEnd();
      if (segment !== "") segments.push(segment.replaceAll(BREAK, ""));
    }
    return { segments, count: (pieces.length - 1) / 2 };
  }
}
