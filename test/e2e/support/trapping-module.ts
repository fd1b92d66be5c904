import { readFileSync, writeFileSync } from "node:fs";

const functionImport = 0;
const section = { imports: 2, exports: 7, code: 10 } as const;
/** No locals; `unreachable`; end. */
const trappingBody = Buffer.from([3, 0, 0x00, 0x0b]);

interface Section {
  readonly id: number;
  readonly content: Buffer;
}

/** Writes a copy of a WebAssembly module in which the function exported as `exported` traps as soon as it is called. */
export function writeTrappingModule(from: string, to: string, exported: string): void {
  const module = readFileSync(from);
  const sections = sectionsOf(module);
  const index = exportedFunction(contentOf(sections, section.exports), exported);
  const imported = countImportedFunctions(contentOf(sections, section.imports));
  const parts: Buffer[] = [module.subarray(0, 8)];
  for (const { id, content } of sections) {
    const changed = id === section.code ? replaceBody(content, index - imported) : content;
    parts.push(Buffer.from([id]), encoded(changed.length), changed);
  }
  writeFileSync(to, Buffer.concat(parts));
}

/** Reads WebAssembly's binary format from its beginning on. */
class Reader {
  at = 0;

  constructor(readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    return this.bytes[this.at++] ?? 0;
  }

  /** An unsigned LEB128 number. */
  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  take(length: number): Buffer {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  name(): string {
    return this.take(this.number()).toString("utf8");
  }
}

function sectionsOf(module: Buffer): Section[] {
  const reader = new Reader(module.subarray(8));
  const sections: Section[] = [];
  while (!reader.isAtEnd) {
    const id = reader.byte();
    sections.push({ id, content: reader.take(reader.number()) });
  }
  return sections;
}

function contentOf(sections: readonly Section[], id: number): Buffer {
  const found = sections.find((each) => each.id === id);
  if (!found) throw new Error(`the module has no section ${id}`);
  return found.content;
}

function exportedFunction(content: Buffer, wanted: string): number {
  const reader = new Reader(content);
  for (let left = reader.number(); left > 0; left--) {
    const name = reader.name();
    const kind = reader.byte();
    const index = reader.number();
    if (name === wanted && kind === functionImport) return index;
  }
  throw new Error(`the module exports no function ${wanted}`);
}

function countImportedFunctions(content: Buffer): number {
  const reader = new Reader(content);
  const count = reader.number();
  for (let left = count; left > 0; left--) {
    reader.name();
    reader.name();
    if (reader.byte() !== functionImport) throw new Error("the module imports more than functions");
    reader.number();
  }
  return count;
}

function replaceBody(content: Buffer, index: number): Buffer {
  const reader = new Reader(content);
  const count = reader.number();
  const bodies = Array.from({ length: count }, () => {
    const body = reader.take(reader.number());
    return Buffer.concat([encoded(body.length), body]);
  });
  bodies[index] = trappingBody;
  return Buffer.concat([encoded(count), ...bodies]);
}

function encoded(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest > 0 ? low | 0x80 : low);
  } while (rest > 0);
  return Buffer.from(bytes);
}
