import { findByte, findLineEnd, findStringStop, findStructure } from "../../../filter/bytes/scan";
import {
  containsWithin,
  equalsIgnoreCase,
  equalsText,
  parseDecimal,
  startsWith,
  wordAt,
  wordOf,
} from "../../../filter/bytes/text";
import { atMemoryEnd } from "./support";

let length: i32 = 0;

function place(text: string): usize {
  const bytes = String.UTF8.encode(text);
  length = bytes.byteLength;
  const at = atMemoryEnd(length);
  memory.copy(at, changetype<usize>(bytes), length);
  return at;
}

describe("texts against raw bytes", () => {
  it("compares starts of every length", () => {
    const text = "abcdefghijklmnopqrstuvwxyz";
    for (let size = 0; size <= text.length; size++) {
      const start = text.substring(0, size);
      expect(startsWith(place(text), length, start)).toBe(true);
      expect(equalsText(place(start), length, start)).toBe(true);
      expect(startsWith(place(start), length, start + "x")).toBe(false);
      for (let wrong = 0; wrong < size; wrong++) {
        const other = text.substring(0, wrong) + "#" + text.substring(wrong + 1);
        expect(startsWith(place(other), length, start)).toBe(false);
      }
    }
    expect(equalsText(place("ab"), length, "a")).toBe(false);
  });

  it("does not take a wide character for its low byte", () => {
    expect(startsWith(place("abcd"), length, "abc\u0164")).toBe(false);
    expect(startsWith(place("é"), length, "é")).toBe(false);
  });

  it("takes the first eight bytes of a text as one number", () => {
    const text = "abcdefgh";
    for (let size = 1; size <= 8; size++) {
      const word = wordOf(text.substring(0, size));
      expect(wordAt(place(text), size)).toBe(word);
      expect(wordAt(place(text), (size & 7) + 1) === word).toBe(false);
      expect(wordAt(place("x" + text.substring(1)), size) === word).toBe(false);
    }
    expect(wordAt(place("abcdefghi"), 9)).toBe(wordOf("abcdefghx"));
  });

  it("finds a text that begins before a limit, in either case", () => {
    const at = place("xxCode 7");
    const end = at + <usize>length;
    expect(containsWithin(at, end, "cODE 7", at + 3)).toBe(true);
    expect(containsWithin(at, end, "code 7", at + 2)).toBe(false);
    expect(containsWithin(at, end, "code 78", end)).toBe(false);
    expect(containsWithin(end, end, "c", end)).toBe(false);
  });

  it("ignores the case of ASCII letters only", () => {
    expect(equalsIgnoreCase(place("Text/Event-STREAM"), length, "text/event-stream")).toBe(true);
    expect(equalsIgnoreCase(place("a[b"), length, "A{B")).toBe(false);
    expect(equalsIgnoreCase(place("@"), length, "`")).toBe(false);
    expect(equalsIgnoreCase(place("abc"), length, "abcd")).toBe(false);
  });

  it("reads decimal numbers and clamps them", () => {
    expect(parseDecimal(place("0"), length)).toBe(0);
    expect(parseDecimal(place("007"), length)).toBe(7);
    expect(parseDecimal(place("2147483647"), length)).toBe(i32.MAX_VALUE);
    expect(parseDecimal(place("2147483648"), length)).toBe(i32.MAX_VALUE);
    expect(parseDecimal(place("9".repeat(400)), length)).toBe(i32.MAX_VALUE);
    expect(parseDecimal(place(""), length)).toBe(-1);
    expect(parseDecimal(place("-1"), length)).toBe(-1);
    expect(parseDecimal(place("1.5"), length)).toBe(-1);
    expect(parseDecimal(place(" 1"), length)).toBe(-1);
    expect(parseDecimal(place("12x"), length)).toBe(-1);
  });
});

describe("the searches", () => {
  it("find each stop at each distance, and nothing else", () => {
    for (let size = 0; size < 70; size++) {
      const plain = "a".repeat(size);
      const at = place(plain + '"');
      expect(findStringStop(at, at + length)).toBe(at + size);
      expect(findStructure(at, at + length)).toBe(at + size);
      expect(findLineEnd(at, at + length)).toBe(at + length);
      expect(findStringStop(at, at + size)).toBe(at + size);
    }
    for (let byte = 0; byte < 256; byte++) {
      for (let tail = 0; tail < 20; tail += 19) {
        const at = atMemoryEnd(20 + tail);
        memory.fill(at, 0x61, 20 + tail);
        store<u8>(at + 7, <u8>byte);
        const end = at + 20 + tail;
        const hit = at + 7;
        expect(findStringStop(at, end)).toBe(byte === 0x22 || byte === 0x5c ? hit : end);
        expect(findByte(at, end, 0x61)).toBe(at);
        expect(findByte(at, end, <u8>byte)).toBe(byte === 0x61 ? at : hit);
        expect(findByte(hit + 1, end, <u8>byte)).toBe(byte === 0x61 ? hit + 1 : end);
        expect(findLineEnd(at, end)).toBe(byte === 0x0a || byte === 0x0d ? hit : end);
        const isStructure = byte === 0x22 || byte === 0x5b || byte === 0x5d || byte === 0x7b || byte === 0x7d;
        expect(findStructure(at, end)).toBe(isStructure ? hit : end);
        store<u8>(at + 7, 0x61);
        store<u8>(end - 1, <u8>byte);
        expect(findStructure(at, end)).toBe(isStructure ? end - 1 : end);
      }
    }
  });
});
