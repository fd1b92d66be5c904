import type { Random } from "./random.js";

/** The bytes in order, cut at up to three places. */
export function cutAnywhere(bytes: Buffer, random: Random): Buffer[] {
  const cuts = Array.from({ length: 1 + random.next(3) }, () => random.next(bytes.length + 1));
  const ends = [...cuts.sort((one, other) => one - other), bytes.length];
  let from = 0;
  return ends.map((end) => {
    const piece = bytes.subarray(from, end);
    from = end;
    return piece;
  });
}
