/** The ABI's form of a list of pairs: a count, the sizes, then the bytes, each followed by a NUL. */

export type BytePair = readonly [Buffer, Buffer];

export function marshalPairs(pairs: readonly BytePair[]): Buffer {
  const sizes = Buffer.alloc(4 + pairs.length * 8);
  sizes.writeUInt32LE(pairs.length, 0);
  pairs.forEach(([name, value], index) => {
    sizes.writeUInt32LE(name.length, 4 + index * 8);
    sizes.writeUInt32LE(value.length, 8 + index * 8);
  });
  const nul = Buffer.alloc(1);
  return Buffer.concat([sizes, ...pairs.flatMap(([name, value]) => [name, nul, value, nul])]);
}

/** @throws RangeError when the sizes reach beyond the bytes, which the real host would read over */
export function unmarshalPairs(bytes: Buffer): BytePair[] {
  if (bytes.length < 4) return [];
  const count = bytes.readUInt32LE(0);
  let at = 4 + count * 8;
  const take = (size: number): Buffer => {
    if (at + size + 1 > bytes.length) throw new RangeError(`pairs reach beyond their ${bytes.length} bytes`);
    const taken = bytes.subarray(at, at + size);
    at += size + 1;
    return taken;
  };
  const pairs: BytePair[] = [];
  for (let index = 0; index < count; index++) {
    const name = take(bytes.readUInt32LE(4 + index * 8));
    pairs.push([name, take(bytes.readUInt32LE(8 + index * 8))]);
  }
  return pairs;
}
