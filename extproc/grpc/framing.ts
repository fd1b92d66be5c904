/** A flag and the length, before each gRPC message. */
export const HEAD_BYTES = 5;

/** Completes a message's frame, for whose head room was left at the front. */
export function frame(bytes: Buffer): Buffer {
  bytes[0] = 0;
  bytes.writeUInt32BE(bytes.length - HEAD_BYTES, 1);
  return bytes;
}

export class FramingError extends Error {
  override readonly name = "FramingError";

  constructor(
    readonly reason: "compressed" | "too large",
    message: string,
  ) {
    super(message);
  }
}

/** Cuts a stream of bytes into gRPC messages. Holds one unfinished message, whose bytes are put together once. */
export class MessageSplitter {
  private pieces: Buffer[] = [];
  private held = 0;
  /** Bytes of the current frame, head included; 0 while its head is not all there. */
  private wanted = 0;

  constructor(private readonly maxBytes: number) {}

  /**
   * Hands over each message that is complete now.
   * @throws FramingError; nothing may be fed after it.
   */
  feed(bytes: Buffer, onMessage: (message: Buffer) => void): void {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.wanted === 0) {
        if (this.held + rest.length < HEAD_BYTES) {
          this.hold(rest);
          return;
        }
        if (this.held > 0) rest = this.take(rest);
        this.wanted = this.readHead(rest);
      }
      if (this.held + rest.length < this.wanted) {
        this.hold(rest);
        return;
      }
      const last = this.wanted - this.held;
      const whole = this.held === 0 ? rest.subarray(0, last) : this.take(rest.subarray(0, last));
      rest = rest.subarray(last);
      this.wanted = 0;
      onMessage(whole.subarray(HEAD_BYTES));
    }
  }

  private readHead(bytes: Buffer): number {
    if (bytes[0] !== 0) throw new FramingError("compressed", "compressed messages are not supported");
    const length = bytes.readUInt32BE(1);
    if (length > this.maxBytes)
      throw new FramingError("too large", `message of ${length} bytes, ${this.maxBytes} are allowed`);
    return HEAD_BYTES + length;
  }

  private hold(bytes: Buffer): void {
    this.pieces.push(bytes);
    this.held += bytes.length;
  }

  private take(last: Buffer): Buffer {
    this.pieces.push(last);
    const whole = Buffer.concat(this.pieces, this.held + last.length);
    this.pieces = [];
    this.held = 0;
    return whole;
  }
}
