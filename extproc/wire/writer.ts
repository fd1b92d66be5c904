const FIRST_BYTES = 512;
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;

/**
 * Writes one protobuf message, each value once: a nested message is written in place, and its length before it
 * afterwards. Fields of the default value are written too; leave them out by not calling.
 */
export class Writer {
  private bytes: Buffer;
  private at: number;

  /** `head`: bytes to leave free at the front, for whatever frames the message. */
  constructor(head = 0) {
    this.bytes = Buffer.allocUnsafe(FIRST_BYTES);
    this.at = head;
  }

  varint(field: number, value: number): void {
    this.room(20);
    this.put(field * 8 + VARINT);
    this.put(value);
  }

  flag(field: number, value: boolean): void {
    this.varint(field, value ? 1 : 0);
  }

  double(field: number, value: number): void {
    this.room(18);
    this.put(field * 8 + FIXED64);
    this.at = this.bytes.writeDoubleLE(value, this.at);
  }

  text(field: number, value: string): void {
    // Three bytes for each UTF-16 unit are the most that UTF-8 takes.
    const most = value.length * 3;
    this.room(most + 20);
    this.put(field * 8 + LENGTH);
    if (most < 128) {
      const length = this.bytes.write(value, this.at + 1);
      this.bytes[this.at] = length;
      this.at += 1 + length;
    } else {
      this.put(Buffer.byteLength(value));
      this.at += this.bytes.write(value, this.at);
    }
  }

  raw(field: number, value: Uint8Array): void {
    this.room(value.length + 20);
    this.put(field * 8 + LENGTH);
    this.put(value.length);
    this.bytes.set(value, this.at);
    this.at += value.length;
  }

  /** A nested message. `least` is what it will be long at least; a good guess saves moving it. */
  message(field: number, fill: () => void, least = 0): void {
    this.room(least + 20);
    this.put(field * 8 + LENGTH);
    const lengthAt = this.at;
    const reserved = varintBytes(least);
    this.at += reserved;
    fill();
    const length = this.at - lengthAt - reserved;
    const needed = varintBytes(length);
    if (needed !== reserved) {
      this.room(needed);
      this.bytes.copyWithin(lengthAt + needed, lengthAt + reserved, this.at);
    }
    this.at = lengthAt;
    this.put(length);
    this.at += length;
  }

  /** Bytes so far, head included. */
  get length(): number {
    return this.at;
  }

  /** Takes back what came after the first `length` bytes. */
  cut(length: number): void {
    this.at = length;
  }

  /** The bytes so far, head included; the writer must not be used any more. */
  finish(): Buffer {
    return this.bytes.subarray(0, this.at);
  }

  private put(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.bytes[this.at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.at++] = rest;
  }

  private room(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.at + count));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
  }
}

function varintBytes(value: number): number {
  let count = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) count++;
  return count;
}
