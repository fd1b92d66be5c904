import { type AnswerEditor, NOTHING } from "./answer-editor.js";

/** Holds an answer in one piece until its end, and puts another in its place. */
export class WholeBody implements AnswerEditor {
  private readonly pieces: Buffer[] = [];
  private byteLength = 0;

  constructor(
    private readonly maxBytes: number,
    /** Must not throw. Undefined: the answer was larger than `maxBytes`. */
    private readonly convert: (body: Buffer | undefined) => Buffer,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  push(piece: Buffer, isEnd: boolean): Buffer {
    this.byteLength += piece.length;
    if (this.byteLength > this.maxBytes) this.pieces.length = 0;
    // A copy, since the piece's memory is the transport's.
    else if (piece.length > 0) this.pieces.push(Buffer.from(piece));
    if (!isEnd) return NOTHING;
    return this.convert(this.byteLength > this.maxBytes ? undefined : Buffer.concat(this.pieces));
  }
}
