// Reads one protobuf message field by field, without copying: what it hands out are places in the same bytes. Nothing beyond the
// message is read, whatever its lengths say, and every step moves forward.

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;
const FIXED32: u32 = 5;
const MAX_VARINT_BYTES: i32 = 10;

@final
export class ProtoReader {
  /** The field at which the reader stands. */
  field: u32 = 0;
  /** Its value, if it {@link isNumber}. */
  value: u64 = 0;
  /** Where its bytes are, if it {@link isBytes}: a text or a message. */
  ptr: usize = 0;
  length: i32 = 0;
  /** The bytes are no message; there is no next field. */
  isBroken: bool = false;
  private type: u32 = VARINT;
  private at: usize = 0;
  private end: usize = 0;

  open(ptr: usize, size: i32): void {
    this.at = ptr;
    this.end = ptr + max(size, 0);
    this.isBroken = false;
  }

  get isNumber(): bool {
    return this.type === VARINT;
  }

  get isBytes(): bool {
    return this.type === LENGTH;
  }

  /** The value where more than 32 bits make no sense. */
  get small(): u32 {
    return <u32>min<u64>(this.value, u32.MAX_VALUE);
  }

  /** Moves to the next field; false at the message's end, or where it is broken. */
  next(): bool {
    if (this.isBroken || this.at >= this.end) return false;
    const tag = this.varint();
    this.type = <u32>tag & 7;
    this.field = <u32>(tag >> 3);
    if (tag > u32.MAX_VALUE || this.field === 0) this.isBroken = true;
    else this.take();
    return !this.isBroken;
  }

  private take(): void {
    if (this.type === VARINT) this.value = this.varint();
    else if (this.type === LENGTH) this.skip(this.varint());
    else if (this.type === FIXED64) this.skip(8);
    else if (this.type === FIXED32) this.skip(4);
    else this.isBroken = true;
  }

  private skip(count: u64): void {
    if (count > <u64>(this.end - this.at)) {
      this.isBroken = true;
      return;
    }
    this.ptr = this.at;
    this.length = <i32>count;
    this.at += <usize>count;
  }

  private varint(): u64 {
    let value: u64 = 0;
    for (let i = 0; i < MAX_VARINT_BYTES && this.at < this.end; i++) {
      const byte = load<u8>(this.at++);
      // More than 64 bits, of which other readers make other numbers.
      if (i === MAX_VARINT_BYTES - 1 && byte > 1) break;
      value |= (<u64>byte & 0x7f) << (<u64>i * 7);
      if (byte < 0x80) return value;
    }
    this.isBroken = true;
    return 0;
  }
}
