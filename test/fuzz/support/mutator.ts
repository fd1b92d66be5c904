import type { Random } from "./random.js";

const MOST_LEARNED = 2048;
const MOST_EDITS = 6;
/** Of each example that is learned, beside its own bytes. */
const EACH_BYTES = 200;

/** What is odd to one parser or another. */
const ODD: readonly Buffer[] = [
  ...[
    ...'\0"\\{}[]:,=;<>#&*!|\n\r\t ',
    "\r\n\r\n",
    "\\u0000",
    "\\ud800",
    "\\udc00",
    "null",
    "true",
    "[]",
    "{}",
    '""',
    '{"toString":1}',
    '"__proto__":',
    "-",
    "1e999",
    "-0",
    "0.1e-7",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "18446744073709551616",
    "99999999999999999999999999",
    "é大🙂",
    "\ufeff",
    "\u2028",
  ].map((text) => Buffer.from(text)),
  // No UTF-8: a lone continuation, overlong, a surrogate, beyond the last character, cut short.
  ...["80", "c080", "eda080", "f4908080", "f09f99", "ff", "fe"].map((hex) => Buffer.from(hex, "hex")),
  // Varints: the largest, and one without an end.
  ...["ffffffffffffffffff01", "ffffffffffffffffffffff", "8080808080808080808001"].map((hex) =>
    Buffer.from(hex, "hex"),
  ),
];

/** Makes cases of real messages: cut, spliced, flipped, nested, stretched. The same random numbers make the same cases. */
export class Mutator {
  private readonly learned: Buffer[] = [];
  private learnedBytes = 0;
  private readonly words: readonly Buffer[];
  private readonly room: Buffer;
  private length = 0;

  constructor(
    private readonly seeds: readonly Buffer[],
    words: readonly string[],
    private readonly maxBytes: number,
  ) {
    this.words = [...words.map((word) => Buffer.from(word)), ...ODD];
    this.room = Buffer.alloc(maxBytes);
  }

  /** Bytes worth to be changed further. */
  learn(bytes: Buffer, random: Random): void {
    const at = this.learned.length < MOST_LEARNED ? this.learned.length : random.next(MOST_LEARNED);
    this.learnedBytes += bytes.length - (this.learned[at]?.length ?? -EACH_BYTES);
    // A small buffer of Node's would keep the pool alive that it is cut from.
    const kept = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(kept);
    this.learned[at] = kept;
  }

  /** What is held here, and is not the parser's to answer for. */
  get heldBytes(): number {
    return this.learnedBytes;
  }

  next(random: Random): Buffer {
    this.start(random);
    const edits = random.next(MOST_EDITS + 1);
    for (let edit = 0; edit < edits; edit++) this.change(random);
    return Buffer.from(this.room.subarray(0, this.length));
  }

  private start(random: Random): void {
    this.length = 0;
    if (random.oneIn(100)) {
      this.length = random.next(Math.min(this.maxBytes, 256));
      for (let at = 0; at < this.length; at++) this.room[at] = random.next(256);
      return;
    }
    this.insert(0, this.example(random));
  }

  private example(random: Random): Buffer {
    return random.pick(this.learned.length > 0 && random.oneIn(2) ? this.learned : this.seeds);
  }

  private change(random: Random): void {
    const at = random.next(this.length + 1);
    const size = Math.min(random.oneIn(4) ? random.next(200) : 1 + random.next(12), this.length - at);
    switch (random.next(14)) {
      case 0:
        if (at < this.length) this.room[at] = (this.room[at] ?? 0) ^ (1 << random.next(8));
        break;
      case 1:
        if (at < this.length) this.room[at] = random.next(256);
        break;
      case 2:
        this.remove(at, size);
        break;
      case 3:
        this.insert(random.next(this.length + 1), Buffer.from(this.room.subarray(at, at + size)));
        break;
      case 4:
        this.length = at;
        break;
      case 5:
        this.splice(at, random);
        break;
      case 6:
        this.nest(at, random);
        break;
      case 7:
        this.renumber(at, random);
        break;
      case 8:
        this.repeat(at, size, random);
        break;
      case 9:
        this.remove(at, size);
        this.insert(at, random.pick(this.words));
        break;
      default:
        this.insert(at, random.pick(this.words));
    }
  }

  /** The end of another example. */
  private splice(at: number, random: Random): void {
    const other = this.example(random);
    this.length = at;
    this.insert(at, other.subarray(random.next(other.length + 1)));
  }

  private nest(at: number, random: Random): void {
    const [open, close] = random.pick([
      ["[", "]"],
      ['{"a":', "}"],
      ["\n  ", ""],
    ] as const);
    const depth = random.oneIn(3) ? random.next(120) : random.next(8);
    this.insert(this.length, Buffer.from(close.repeat(depth)));
    this.insert(at, Buffer.from(open.repeat(depth)));
  }

  /** Another number in place of the next one. */
  private renumber(from: number, random: Random): void {
    let at = from;
    while (at < this.length && !isDigit(this.room[at])) at++;
    let end = at;
    while (end < this.length && isDigit(this.room[end])) end++;
    this.remove(at, end - at);
    const exponent = random.next(70);
    const number = random.oneIn(2) ? 2 ** exponent - random.next(2) : random.next(20) - 2;
    this.insert(at, Buffer.from(String(number)));
  }

  private repeat(at: number, size: number, random: Random): void {
    const piece = Buffer.from(this.room.subarray(at, at + size));
    const times = random.oneIn(8) ? random.next(400) : random.next(6);
    for (let time = 0; time < times && this.length + size < this.maxBytes; time++) this.insert(at, piece);
  }

  private insert(at: number, bytes: Buffer): void {
    const size = Math.min(bytes.length, this.maxBytes - this.length);
    this.room.copyWithin(at + size, at, this.length);
    bytes.copy(this.room, at, 0, size);
    this.length += size;
  }

  private remove(at: number, size: number): void {
    this.room.copyWithin(at, at + size, this.length);
    this.length -= size;
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
