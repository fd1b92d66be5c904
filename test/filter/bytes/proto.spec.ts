import { ProtoReader } from "../../../filter/bytes/proto-reader";
import { ProtoWriter } from "../../../filter/bytes/proto-writer";
import { guarded, isIntact } from "../../fuzz/filter/guard-words";
import { atMemoryEnd, Noise } from "./support";

const ROOM: i32 = 600;
const ROUNDS: i32 = 100_000;

const writer = new ProtoWriter();
const reader = new ProtoReader();
const room = guarded(ROOM);

function hex(ptr: usize, size: i32): string {
  let text = "";
  for (let i = 0; i < size; i++) text += (load<u8>(ptr + i) + 0x100).toString(16).slice(1);
  return text;
}

/** What a reader makes of bytes that end where memory does. */
function facts(text: string): string {
  const size = text.length / 2;
  const at = atMemoryEnd(size);
  for (let i = 0; i < size; i++) store<u8>(at + i, <u8>i32.parse(text.slice(i * 2, i * 2 + 2), 16));
  reader.open(at, size);
  let told = "";
  while (reader.next()) {
    told += reader.field.toString() + ":";
    if (reader.isNumber) told += reader.value.toString();
    else if (reader.isBytes) told += hex(reader.ptr, reader.length);
    told += " ";
  }
  return told + (reader.isBroken ? "broken" : "end");
}

describe("a protobuf writer", () => {
  it("writes numbers, flags and texts, and leaves out what is 0", () => {
    writer.open(room, ROOM);
    writer.number(1, 150);
    writer.number(2, 0);
    writer.flag(3, true);
    writer.flag(4, false);
    writer.bytes(5, changetype<usize>(String.UTF8.encode("gpu")), 3);
    writer.bytes(6, 0, 0);
    writer.number(16, u64.MAX_VALUE);
    expect(hex(room, writer.size)).toBe("0896011801" + "2a03677075" + "8001ffffffffffffffffff01");
    expect(writer.isFull).toBe(false);
  });

  it("puts messages into one another, whatever their lengths", () => {
    const text = heap.alloc(200);
    memory.fill(text, 0x61, 200);
    writer.open(room, ROOM);
    const outer = writer.begin(1);
    const inner = writer.begin(2);
    writer.bytes(3, text, 200);
    writer.finish(inner);
    const empty = writer.begin(4);
    writer.finish(empty);
    writer.finish(outer);
    expect(hex(room, 11)).toBe("0ad00112cb011ac8016161");
    expect(writer.size).toBe(3 + 208);
    expect(hex(room + writer.size - 4, 4)).toBe("61612200");
  });

  it("writes nothing beyond its room, and says so", () => {
    const text = heap.alloc(64);
    for (let size = 0; size < 120; size++) {
      const place = guarded(size);
      writer.open(place, size);
      const start = writer.begin(1);
      writer.number(2, u64.MAX_VALUE);
      writer.bytes(3, text, 64);
      writer.finish(start);
      expect(isIntact(place, size)).toBe(true);
      expect(writer.size <= size).toBe(true);
    }
    expect(writer.isFull).toBe(false);
  });

  it("takes back what did not fit", () => {
    writer.open(room, 40);
    writer.number(1, 1);
    const place = writer.place;
    writer.bytes(2, room, 40);
    expect(writer.isFull).toBe(true);
    writer.back(place);
    expect(writer.isFull).toBe(false);
    expect(writer.size).toBe(2);
  });
});

describe("a protobuf reader", () => {
  it("takes a number of more than 64 bits for broken: others would make another number of it", () => {
    expect(facts("08ffffffffffffffffff01")).toBe("1:18446744073709551615 end");
    expect(facts("08ffffffffffffffffff02")).toBe("broken");
    expect(facts("128080808080808080803261")).toBe("broken");
  });

  it("reads numbers and bytes, and passes over the rest", () => {
    expect(facts("089601" + "2a03677075")).toBe("1:150 5:677075 end");
    expect(facts("0d01020304" + "110102030405060708" + "1001")).toBe("1: 2: 2:1 end");
    expect(facts("")).toBe("end");
  });

  it("ends where a message is broken", () => {
    expect(facts("0801" + "12")).toBe("1:1 broken");
    expect(facts("1203" + "6162")).toBe("broken");
    expect(facts("12ffffffffffffffffff01")).toBe("broken");
    expect(facts("08ffffffffffffffffffff")).toBe("broken");
    expect(facts("0b08010c")).toBe("broken");
    expect(facts("0001")).toBe("broken");
    expect(facts("0d0102")).toBe("broken");
  });

  it("reads nothing outside of any bytes, and comes to an end", () => {
    const noise = new Noise(41);
    for (let round = 0; round < ROUNDS; round++) {
      const size = noise.next(24);
      const at = atMemoryEnd(size);
      for (let i = 0; i < size; i++)
        store<u8>(at + i, <u8>(noise.next(3) === 0 ? noise.next(256) : noise.next(32)));
      reader.open(at, size);
      let fields = 0;
      while (reader.next()) {
        fields++;
        const isInside = !reader.isBytes || (reader.ptr >= at && reader.ptr + reader.length <= at + size);
        if (!isInside) throw new Error("bytes outside of the message");
      }
      if (fields > size) throw new Error("more fields than bytes");
    }
    expect(true).toBe(true);
  });
});
