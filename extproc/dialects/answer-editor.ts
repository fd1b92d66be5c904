/** Changes one answer's body as it passes, piece by piece, in bounded memory. */
export interface AnswerEditor {
  /** Headers that the new body asks for. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The bytes that go on in the piece's place: the very same buffer when nothing had to change, an empty one when
   * nothing goes on yet. `isEnd` is false when trailers follow.
   */
  push(piece: Buffer, isEnd: boolean): Buffer;
}

export const NOTHING = Buffer.alloc(0);
