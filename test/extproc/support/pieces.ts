/** Bytes cut into pieces of these lengths, over and over. */
export function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = Math.max(1, lengths[turn % lengths.length] ?? 1);
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return pieces;
}
