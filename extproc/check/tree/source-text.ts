import type { Place } from "./located.js";

/** Where a text begins that stands inside another one, as a block does. */
export interface Base {
  readonly line: number;
  readonly column: number;
}

/** A text with a name, in which offsets become lines and columns. */
export class SourceText {
  /** Offsets of `<<:`, which YAML 1.1 has and Envoy has not. */
  readonly mergeKeys: number[] = [];
  private lineStarts: number[] | undefined;

  constructor(
    readonly name: string,
    readonly text: string,
    /** Of the first character, where the text is only part of the file. */
    private readonly base: Base = { line: 1, column: 1 },
  ) {}

  placeOf(offset: number): Place {
    this.lineStarts ??= startsOf(this.text);
    const starts = this.lineStarts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return {
      file: this.name,
      line: this.base.line + low,
      column: this.base.column + offset - (starts[low] ?? 0),
    };
  }
}

/** Of a place that counts from 1 in `text` itself. */
export function offsetIn(text: string, { line, column }: Base): number {
  return (startsOf(text)[line - 1] ?? 0) + column - 1;
}

function startsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
