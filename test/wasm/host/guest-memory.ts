import { Status } from "./abi.js";

/** Bytes inside a module's linear memory. Reads copy; a write beyond the end is an error code, as in the real host. */
export class GuestMemory {
  readonly #memory: WebAssembly.Memory;
  readonly #allocate: (size: number) => number;

  constructor(memory: WebAssembly.Memory, allocate: (size: number) => number) {
    this.#memory = memory;
    this.#allocate = allocate;
  }

  get byteLength(): number {
    return this.#memory.buffer.byteLength;
  }

  /** A copy of `size` bytes. @throws RangeError outside of memory, where the real host returns status 6 */
  bytes(at: number, size: number): Buffer {
    return Buffer.from(Buffer.from(this.#memory.buffer, at, size));
  }

  text(at: number, size: number): string {
    return this.bytes(at, size).toString("latin1");
  }

  u32(at: number): number {
    return this.#view().getUint32(at, true);
  }

  setU32(at: number, value: number): void {
    this.#view().setUint32(at, value, true);
  }

  setU64(at: number, value: bigint): void {
    this.#view().setBigUint64(at, value, true);
  }

  put(at: number, bytes: Uint8Array): void {
    new Uint8Array(this.#memory.buffer, at, bytes.length).set(bytes);
  }

  /** Hands bytes to the module in memory that the module allocates; nothing is allocated for no bytes. */
  give(bytes: Buffer, pointerAt: number, sizeAt: number): number {
    let pointer = 0;
    if (bytes.length > 0) {
      pointer = this.#allocate(bytes.length);
      if (pointer === 0) return Status.invalidMemoryAccess;
      this.put(pointer, bytes);
    }
    this.setU32(pointerAt, pointer);
    this.setU32(sizeAt, bytes.length);
    return Status.ok;
  }

  #view(): DataView {
    return new DataView(this.#memory.buffer);
  }
}
