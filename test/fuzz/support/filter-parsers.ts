import assert from "node:assert/strict";
import { parsersModule } from "../build-parsers.js";

type Call = (...args: number[]) => number;

const PAGE_BYTES = 65_536;

/** The filter's parsers in one instance that lives as long as its target. */
export class FilterParsers {
  readonly call: Readonly<Record<string, Call>>;
  private readonly memory: WebAssembly.Memory;
  private bytes: Buffer;
  private edge = 0;
  /** Bytes before the edge that are nobody's. */
  private free = 0;

  constructor() {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(parsersModule()), {});
    this.call = exports as unknown as Record<string, Call>;
    this.memory = exports.memory as WebAssembly.Memory;
    this.bytes = Buffer.from(this.memory.buffer);
  }

  /** Puts the bytes at the very end of memory, so that a read past them traps. */
  put(bytes: Uint8Array): number {
    if (this.memory.buffer.byteLength !== this.edge || this.free < bytes.length) {
      // What is there belongs to the module's heap, which has just grown.
      const pages = Math.ceil(bytes.length / PAGE_BYTES) + 1;
      this.memory.grow(pages);
      this.free = pages * PAGE_BYTES;
      this.edge = this.memory.buffer.byteLength;
      this.bytes = Buffer.from(this.memory.buffer);
    }
    const ptr = this.edge - bytes.length;
    this.bytes.set(bytes, ptr);
    return ptr;
  }

  ask(name: string, bytes: Uint8Array): number {
    return (this.call[name] as Call)(this.put(bytes), bytes.length);
  }

  /** A copy. */
  read(ptr: number, length: number): Buffer {
    // The module's heap may have grown meanwhile, which moves all.
    if (this.bytes.length === 0) this.bytes = Buffer.from(this.memory.buffer);
    return Buffer.from(this.bytes.subarray(ptr, ptr + length));
  }

  numbers(ptr: number, count: number): Int32Array {
    return new Int32Array(this.memory.buffer, ptr, count).slice();
  }

  /** What a parser wrote into the room that it was given. */
  room(length: number): Buffer {
    if ((this.call.isRoomIntact as Call)() !== 1) assert.fail("wrote beside its room");
    return this.read((this.call.roomAt as Call)(), length);
  }

  get byteLength(): number {
    return this.memory.buffer.byteLength;
  }
}
