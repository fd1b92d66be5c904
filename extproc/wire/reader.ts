/** Bytes that are no protobuf message, or not the one that was expected. */
export class WireError extends Error {
  override readonly name = "WireError";
}

/** How a field's value is laid out: the low three bits of its tag. */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;

const MAX_VARINT_BYTES = 10;

/**
 * Reads one protobuf message field by field, without copying: what it hands out are views of the same bytes. Every
 * step moves forward, so that reading ends after at most as many steps as there are bytes.
 */
export class Reader {
  /** The field at which the reader stands; see `next`. */
  field = 0;
  private type = VARINT;

  constructor(
    private readonly bytes: Buffer,
    private at = 0,
    private readonly end = bytes.length,
  ) {}

  /** Moves to the next field, whose value must then be read or skipped; false at the message's end. */
  next(): boolean {
    if (this.at >= this.end) return false;
    const tag = this.readVarint();
    this.field = Math.floor(tag / 8);
    this.type = tag % 8;
    if (this.field === 0) throw new WireError("field number 0");
    return true;
  }

  /** A bool. */
  flag(): boolean {
    this.expect(VARINT);
    return this.readVarint() !== 0;
  }

  /** A whole number that is not negative. */
  number(): number {
    this.expect(VARINT);
    return this.readVarint();
  }

  double(): number {
    this.expect(FIXED64);
    return this.bytes.readDoubleLE(this.advance(8));
  }

  /** A string as UTF-8. */
  text(): string {
    const from = this.enter();
    return this.bytes.toString("utf8", from, this.at);
  }

  /** A string that is ASCII by its nature, such as a header's name. */
  ascii(): string {
    const from = this.enter();
    return this.bytes.toString("latin1", from, this.at);
  }

  view(): Buffer {
    const from = this.enter();
    return this.bytes.subarray(from, this.at);
  }

  /** A message within this one. */
  message(): Reader {
    const from = this.enter();
    return new Reader(this.bytes, from, this.at);
  }

  skip(): void {
    if (this.type === VARINT) this.readVarint();
    else if (this.type === FIXED64) this.advance(8);
    else if (this.type === FIXED32) this.advance(4);
    else this.enter();
  }

  /** Moves behind a value with a length of its own; returns where it begins. */
  private enter(): number {
    this.expect(LENGTH);
    return this.advance(this.readVarint());
  }

  private advance(count: number): number {
    const from = this.at;
    if (count > this.end - from) throw new WireError("cut short");
    this.at = from + count;
    return from;
  }

  private expect(type: number): void {
    if (this.type !== type) throw new WireError(`field ${this.field} has wire type ${this.type}`);
  }

  /** Values over 2^53 lose their low bits; none of ours is that large. */
  private readVarint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < MAX_VARINT_BYTES; count++) {
      const byte = this.bytes[this.advance(1)] ?? 0;
      if (count === MAX_VARINT_BYTES - 1 && byte > 1) break;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    throw new WireError("a number of more than 64 bits");
  }
}
