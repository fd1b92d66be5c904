/** Replaces the bytes [start, end) by `bytes`; start = end inserts. */
export interface Edit {
  start: number;
  end: number;
  bytes: Buffer;
}

/** Applies edits that don't overlap; every byte outside them stays as it is. */
export function applyEdits(body: Buffer, edits: readonly Edit[]): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    parts.push(body.subarray(from, edit.start), edit.bytes);
    from = edit.end;
  }
  parts.push(body.subarray(from));
  return Buffer.concat(parts);
}
