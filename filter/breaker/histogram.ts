/*
 * Durations on a log scale: bins that begin at 4 ms × 2^(n/4), each 19 % wider than the one before, so that 72 of them
 * reach from 4 ms to 12 minutes and any percentile is known within that width. The first bin holds what is shorter than
 * 4 ms, the last one all that is longer. A histogram is `BIN_COUNT` u32 counts.
 */

export const BIN_COUNT: i32 = 72;
export const HISTOGRAM_SIZE: usize = <usize>BIN_COUNT * sizeof<u32>();

/** 4 ms × 2^(n/4) for n below 4, in 1/1024 ms. */
const QUARTER_OCTAVES: StaticArray<u32> = [4096, 4871, 5793, 6889];

/** The bin of a duration. O(1). */
export function binOf(durationMs: u32): i32 {
  if (durationMs < 4) return 0;
  const octave = 29 - <i32>clz(durationMs);
  let bin = octave * 4 + 1;
  for (let i = 0; i < 3 && durationMs >= binEndMs(bin); i++) bin++;
  return min(bin, BIN_COUNT - 1);
}

/** Where a bin ends and the next one begins, in milliseconds. */
export function binEndMs(bin: i32): u32 {
  const scaled = (<u64>unchecked(QUARTER_OCTAVES[bin & 3])) << (<u64>bin >> 2);
  return <u32>((scaled + 512) >> 10);
}

function countAt(histogram: usize, bin: i32): u32 {
  return load<u32>(histogram + <usize>bin * sizeof<u32>());
}

/** Counts one duration; a count that is full stays full. */
export function countDuration(histogram: usize, durationMs: u32): void {
  const ptr = histogram + <usize>binOf(durationMs) * sizeof<u32>();
  const count = load<u32>(ptr);
  if (count !== u32.MAX_VALUE) store<u32>(ptr, count + 1);
}

/**
 * The percentile of what several histograms hold together, interpolated within its bin, in milliseconds; 0 of nothing.
 * O(bins × histograms).
 * @param first the first histogram; the others follow at a distance of `stride` bytes
 */
export function percentileMs(first: usize, stride: usize, histograms: i32, percent: u32): u32 {
  let total: u64 = 0;
  for (let bin = 0; bin < BIN_COUNT; bin++) total += countOver(first, stride, histograms, bin);
  const rank = total * percent;
  let below: u64 = 0;
  for (let bin = 0; bin < BIN_COUNT; bin++) {
    const count = countOver(first, stride, histograms, bin) * 100;
    if (count !== 0 && below + count >= rank) {
      const start: u64 = bin === 0 ? 0 : binEndMs(bin - 1);
      return <u32>(start + ((<u64>binEndMs(bin) - start) * (rank - below)) / count);
    }
    below += count;
  }
  return 0;
}

function countOver(first: usize, stride: usize, histograms: i32, bin: i32): u64 {
  let count: u64 = 0;
  for (let i = 0; i < histograms; i++) count += countAt(first + <usize>i * stride, bin);
  return count;
}
