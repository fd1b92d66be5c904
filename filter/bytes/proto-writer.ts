// Writes one protobuf message into memory of a given size. A message within it is written in place, and its length before it
// afterwards. Values of 0 are left out, as proto3 wants it.

const VARINT: u64 = 0;
const LENGTH: u64 = 2;
/** Of a 64-bit number. */
const MAX_VARINT: usize = 10;

@final
export class ProtoWriter {
  /** Something did not fit, and what was written is no message. */
  isFull: bool = false;
  private from: usize = 0;
  private at: usize = 0;
  private end: usize = 0;

  /** Begins a message in `size` bytes at `ptr`. */
  open(ptr: usize, size: i32): void {
    this.from = ptr;
    this.at = ptr;
    this.end = ptr + size;
    this.isFull = false;
  }

  get size(): i32 {
    return <i32>(this.at - this.from);
  }

  /** Where the next field goes; {@link back} takes back what was written since. */
  get place(): usize {
    return this.at;
  }

  back(place: usize): void {
    this.at = place;
    this.isFull = false;
  }

  number(field: u32, value: u64): void {
    if (value === 0 || !this.hasRoom(2 * MAX_VARINT)) return;
    this.put(((<u64>field) << 3) | VARINT);
    this.put(value);
  }

  flag(field: u32, value: bool): void {
    this.number(field, value ? 1 : 0);
  }

  bytes(field: u32, ptr: usize, length: i32): void {
    if (length <= 0 || !this.hasRoom(2 * MAX_VARINT + length)) return;
    this.put(((<u64>field) << 3) | LENGTH);
    this.put(length);
    memory.copy(this.at, ptr, length);
    this.at += length;
  }

  /** Begins a message within this one, whose end {@link finish} is told with what this returns. */
  begin(field: u32): usize {
    if (!this.hasRoom(MAX_VARINT + 1)) return 0;
    this.put(((<u64>field) << 3) | LENGTH);
    this.at++;
    return this.at;
  }

  finish(start: usize): void {
    if (this.isFull) return;
    const length = this.at - start;
    const more = varintSize(length) - 1;
    if (!this.hasRoom(more)) return;
    if (more > 0) memory.copy(start + more, start, length);
    this.at = start - 1;
    this.put(length);
    this.at += length;
  }

  private hasRoom(count: usize): bool {
    if (this.isFull || this.end - this.at < count) this.isFull = true;
    return !this.isFull;
  }

  private put(value: u64): void {
    while (value > 0x7f) {
      store<u8>(this.at++, <u8>(value | 0x80));
      value >>= 7;
    }
    store<u8>(this.at++, <u8>value);
  }
}

function varintSize(value: usize): usize {
  let size: usize = 1;
  while (value > 0x7f) {
    value >>= 7;
    size++;
  }
  return size;
}
