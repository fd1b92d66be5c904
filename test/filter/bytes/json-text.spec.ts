import { MOST_PER_BYTE, writeJsonText } from "../../../filter/bytes/json-text";
import { guarded, isIntact } from "../../fuzz/filter/guard-words";
import { atMemoryEnd, Noise } from "./support";

const ROOM: i32 = 64;
const out = guarded(ROOM * MOST_PER_BYTE);

function written(bytes: u8[]): string {
  const at = atMemoryEnd(bytes.length);
  for (let i = 0; i < bytes.length; i++) store<u8>(at + i, bytes[i]);
  const length = writeJsonText(out, at, bytes.length);
  expect(isIntact(out, ROOM * MOST_PER_BYTE)).toBe(true);
  return String.UTF8.decodeUnsafe(out, length);
}

function writtenText(text: string): string {
  const encoded = String.UTF8.encode(text);
  const bytes: u8[] = [];
  for (let i = 0; i < encoded.byteLength; i++) bytes.push(load<u8>(changetype<usize>(encoded) + i));
  return written(bytes);
}

describe("text inside JSON", () => {
  it("is left as it is where it can be", () => {
    expect(writtenText("")).toBe("");
    expect(writtenText("qwen3-32b/a é€😀")).toBe("qwen3-32b/a é€😀");
  });

  it("escapes quotes, backslashes and controls", () => {
    expect(writtenText('a"b\\c')).toBe('a\\"b\\\\c');
    expect(written([0, 0x0a, 0x1f, 0x7f, 0x20])).toBe("\\u0000\\u000a\\u001f\\u007f ");
  });

  it("is UTF-8 whatever came: cut, too long, a surrogate, beyond Unicode", () => {
    expect(written([0x61, 0xe2, 0x82])).toBe("a\ufffd\ufffd");
    expect(written([0xc3])).toBe("\ufffd");
    expect(written([0xc0, 0xaf])).toBe("\ufffd\ufffd");
    expect(written([0xe0, 0x9f, 0xbf])).toBe("\ufffd\ufffd\ufffd");
    expect(written([0xed, 0xa0, 0x80])).toBe("\ufffd\ufffd\ufffd");
    expect(written([0xf4, 0x90, 0x80, 0x80])).toBe("\ufffd\ufffd\ufffd\ufffd");
    expect(written([0xff, 0x41, 0x80])).toBe("\ufffdA\ufffd");
    expect(written([0xc3, 0x22])).toBe('\ufffd\\"');
  });

  it("never writes more than its room, and no bare quote or control", () => {
    const noise = new Noise(3);
    for (let round = 0; round < 20_000; round++) {
      const length = noise.next(ROOM + 1);
      const at = atMemoryEnd(length);
      for (let i = 0; i < length; i++) store<u8>(at + i, <u8>noise.next(256));
      const size = writeJsonText(out, at, length);
      if (size > length * MOST_PER_BYTE || !isIntact(out, ROOM * MOST_PER_BYTE)) throw new Error("too much");
      let isEscaped = false;
      for (let i = 0; i < size; i++) {
        const byte = load<u8>(out + i);
        if (byte < 0x20 || (byte === 0x22 && !isEscaped)) throw new Error("a bare byte");
        isEscaped = byte === 0x5c && !isEscaped;
      }
    }
  });
});
