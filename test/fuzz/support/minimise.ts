const MOST_TRIES = 3000;

/** Fewer bytes, and plainer ones, for which `fails` still holds. */
export async function minimise(bytes: Buffer, fails: (bytes: Buffer) => Promise<boolean>): Promise<Buffer> {
  let least = bytes;
  let tries = 0;
  const attempt = async (candidate: Buffer): Promise<boolean> => {
    if (tries++ >= MOST_TRIES || !(await fails(candidate))) return false;
    least = candidate;
    return true;
  };
  for (let size = Math.ceil(least.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < least.length; ) {
      const without = Buffer.concat([least.subarray(0, at), least.subarray(at + size)]);
      if (!(await attempt(without))) at += size;
    }
  }
  for (let at = 0; at < least.length; at++) {
    const plain = Buffer.from(least);
    plain[at] = 0x61;
    if (least[at] !== 0x61) await attempt(plain);
  }
  return least;
}

/** As it can be put into a test: text where it is some, else hexadecimal. */
export function spell(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes)
    ? `Buffer.from(${JSON.stringify(text)})`
    : `Buffer.from("${bytes.toString("hex")}", "hex")`;
}
