import { addSaturating, clamp, subtractSaturating } from "./arithmetic";
import { hasPassed } from "./clock";
import { BreakerConfig } from "./config";
import { countDuration, HISTOGRAM_SIZE, percentileMs } from "./histogram";

/*
 * Whether a backend's first tokens come later than they use to.
 *
 * The latest samples lie in `SLICE_COUNT` slices, a ring of histograms: when the newest is full, the oldest is emptied and
 * becomes the newest. So the last 300 samples or more are at hand, without a list of them. A slice is full with
 * `SLICE_SAMPLES`, but lasts at least two seconds, or a single stutter under heavy traffic would be all there is to see;
 * and it is full after a quarter of the time that samples count for.
 *
 * The baseline is a slow moving average of the percentile itself. It is learnt from healthy times only: who learns while
 * it drifts, soon finds the drift normal. The 95th and the 99th percentile have each their own. No division is by a
 * sample's value, nothing allocates, all counts saturate.
 */

const SLICE_COUNT: i32 = 4;
const SLICE_SAMPLES: u32 = 100;
const LEAST_SLICE_MS: u64 = 2000;
const SAMPLE_LIFE_MS: u64 = 600000;
const MOST_SLICE_MS: u64 = SAMPLE_LIFE_MS / <u64>SLICE_COUNT;

/** From so many samples on the 99th percentile is judged, and no longer the 95th. What full slices hold at least. */
const TAIL_SAMPLES: i32 = (SLICE_COUNT - 1) * <i32>SLICE_SAMPLES;

/** The average is over an hour: one lesson a minute, and each weighs 1/64 once there have been as many. */
const LESSON_INTERVAL_MS: u64 = 60000;
const MOST_LESSONS: u32 = 64;

/** Baselines are kept in 1/1024 ms, or a lesson's 1/64 would be rounded away. */
const FRACTION_BITS: u64 = 10;

/** A shorter baseline is taken for this: nobody notices that 3 ms have become 10. */
const LEAST_BASELINE_MS: u64 = 100;

/** A slow moving average. */
@unmanaged
class Baseline {
  /** In 1/1024 ms; nothing without a lesson. */
  value: u32;
  /** How many have been learnt, up to `MOST_LESSONS`. */
  lessons: u32;
}

/** The header of a slice; its histogram follows. */
@unmanaged
class Slice {
  /** When its first sample was filed. */
  startMs: u64;
  count: u32;
  reserved: u32;
}

const SLICE_SIZE: usize = offsetof<Slice>() + HISTOGRAM_SIZE;

/** A backend's latency: this header, then two baselines, then the slices. */
@unmanaged
export class Latency {
  nextLessonMs: u64;
  /** Samples that no lesson has seen. */
  unlearntSamples: u32;
  /** Index of the newest slice. */
  head: i32;
}

/** How a backend's first tokens are, for people; times in milliseconds, without a baseline 0. */
@final
export class LatencyView {
  samples: u32 = 0;
  p50Ms: u32 = 0;
  p99Ms: u32 = 0;
  /** 95 or 99: what drift is judged by. */
  judgedPercentile: u32 = 0;
  judgedMs: u32 = 0;
  baselineMs: u32 = 0;
}

const P95_OFFSET: usize = offsetof<Latency>();
const P99_OFFSET: usize = P95_OFFSET + offsetof<Baseline>();
const SLICES_OFFSET: usize = P99_OFFSET + offsetof<Baseline>();

export const LATENCY_SIZE: usize = SLICES_OFFSET + <usize>SLICE_COUNT * SLICE_SIZE;

export function isLatencyValid(latency: Latency): bool {
  return <u32>latency.head < <u32>SLICE_COUNT;
}

/** Moves all times back with a clock that stepped. */
export function shiftLatency(latency: Latency, stepMs: u64): void {
  latency.nextLessonMs = subtractSaturating(latency.nextLessonMs, stepMs);
  for (let i = 0; i < SLICE_COUNT; i++) {
    const slice = sliceAt(latency, i);
    slice.startMs = subtractSaturating(slice.startMs, stepMs);
  }
}

/** Files one first token's time. O(1). */
export function fileLatency(latency: Latency, durationMs: u32, now: u64): void {
  let slice = sliceAt(latency, latency.head);
  if (isFull(slice, now)) {
    latency.head = (latency.head + 1) % SLICE_COUNT;
    slice = sliceAt(latency, latency.head);
    clear(slice);
  }
  if (slice.count === 0) slice.startMs = now;
  if (slice.count === u32.MAX_VALUE) return;
  slice.count++;
  countDuration(histogramOf(slice), durationMs);
  if (latency.unlearntSamples !== u32.MAX_VALUE) latency.unlearntSamples++;
}

/** Whether the percentile is beyond the configured multiple of its baseline; if not, it may be learnt from. O(bins). */
export function isDrifting(latency: Latency, config: BreakerConfig, now: u64, mayLearn: bool): bool {
  clearExpired(latency, now);
  const threshold = config.latencyDriftThreshold;
  const samples = samplesHeld(latency);
  const minimum = <u32>clamp(config.latencyDriftMinimumSamples, 1, TAIL_SAMPLES);
  if (threshold <= 0 || samples < minimum) return false;
  const hasTail = samples >= <u64>TAIL_SAMPLES;
  const percent = judgedPercent(latency, samples);
  const isBeyond = exceeds(percentileOf(latency, percent), baselineOf(latency, percent), threshold);
  if (isBeyond || !mayLearn || latency.unlearntSamples < minimum || now < latency.nextLessonMs)
    return isBeyond;
  learn(baselineOf(latency, 95), percentileOf(latency, 95));
  if (hasTail) learn(baselineOf(latency, 99), percentileOf(latency, 99));
  latency.unlearntSamples = 0;
  latency.nextLessonMs = addSaturating(now, LESSON_INTERVAL_MS);
  return false;
}

/** Tells how it stands. O(bins). */
export function describeLatency(latency: Latency, view: LatencyView, now: u64): void {
  clearExpired(latency, now);
  const samples = samplesHeld(latency);
  const percent = judgedPercent(latency, samples);
  view.samples = <u32>min<u64>(samples, u32.MAX_VALUE);
  view.p50Ms = percentileOf(latency, 50);
  view.p99Ms = percentileOf(latency, 99);
  view.judgedPercentile = percent;
  view.judgedMs = percentileOf(latency, percent);
  view.baselineMs = baselineOf(latency, percent).value >> <u32>FRACTION_BITS;
}

/** Drops all samples; what was learnt stays. */
export function forgetSamples(latency: Latency): void {
  for (let i = 0; i < SLICE_COUNT; i++) clear(sliceAt(latency, i));
  latency.unlearntSamples = 0;
}

/** The 95th percentile's baseline; 0 when none is learnt yet. */
export function latencyBaselineMs(latency: Latency): u32 {
  return baselineOf(latency, 95).value >> <u32>FRACTION_BITS;
}

/** Which percentile drift is judged by: the tail's once there are enough samples and a baseline of it. */
function judgedPercent(latency: Latency, samples: u64): u32 {
  return samples >= <u64>TAIL_SAMPLES && baselineOf(latency, 99).lessons > 0 ? 99 : 95;
}

function exceeds(durationMs: u32, baseline: Baseline, threshold: i32): bool {
  if (baseline.lessons === 0) return false;
  const usual = max(<u64>baseline.value, LEAST_BASELINE_MS << FRACTION_BITS);
  return ((<u64>durationMs) << FRACTION_BITS) * 100 > usual * threshold;
}

/** The mean of the first lessons, then a moving average that forgets them slowly. */
function learn(baseline: Baseline, durationMs: u32): void {
  const lessons = min(baseline.lessons, MOST_LESSONS - 1) + 1;
  const before: i64 = baseline.lessons === 0 ? 0 : baseline.value;
  const now = (<i64>durationMs) << FRACTION_BITS;
  baseline.value = <u32>(before + (now - before) / <i64>lessons);
  baseline.lessons = lessons;
}

function percentileOf(latency: Latency, percent: u32): u32 {
  return percentileMs(histogramOf(sliceAt(latency, 0)), SLICE_SIZE, SLICE_COUNT, percent);
}

function samplesHeld(latency: Latency): u64 {
  let samples: u64 = 0;
  for (let i = 0; i < SLICE_COUNT; i++) samples += sliceAt(latency, i).count;
  return samples;
}

function isFull(slice: Slice, now: u64): bool {
  if (slice.count === 0) return false;
  return hasPassed(slice.startMs, slice.count < SLICE_SAMPLES ? MOST_SLICE_MS : LEAST_SLICE_MS, now);
}

function clearExpired(latency: Latency, now: u64): void {
  for (let i = 0; i < SLICE_COUNT; i++) {
    const slice = sliceAt(latency, i);
    if (slice.count !== 0 && hasPassed(slice.startMs, SAMPLE_LIFE_MS, now)) clear(slice);
  }
}

function clear(slice: Slice): void {
  memory.fill(changetype<usize>(slice), 0, SLICE_SIZE);
}

function histogramOf(slice: Slice): usize {
  return changetype<usize>(slice) + offsetof<Slice>();
}

function baselineOf(latency: Latency, percent: u32): Baseline {
  const offset = percent === 99 ? P99_OFFSET : P95_OFFSET;
  return changetype<Baseline>(changetype<usize>(latency) + offset);
}

function sliceAt(latency: Latency, index: i32): Slice {
  const safe = <usize>(<u32>index % <u32>SLICE_COUNT);
  return changetype<Slice>(changetype<usize>(latency) + SLICES_OFFSET + safe * SLICE_SIZE);
}
