import type { Counts } from "../record/snapshot.js";

const secondMs = 1_000;
const nothing: Counts = {
  calls: 0,
  failures: 0,
  backpressure: 0,
  outOfMemory: 0,
  firstTokens: 0,
  slowCalls: 0,
};

/** The last seconds, the newest first; never changed in place. */
export interface Window {
  readonly headStartMs: number;
  readonly seconds: readonly Counts[];
}

export function emptyWindow(nowMs: number): Window {
  return { headStartMs: nowMs, seconds: [nothing] };
}

export function advance(window: Window, nowMs: number, size: number): Window {
  const elapsedMs = nowMs - window.headStartMs;
  const steps = Math.floor(elapsedMs / secondMs);
  if (steps < 1) return window;
  const seconds = [...Array<Counts>(Math.min(steps, size)).fill(nothing), ...window.seconds];
  return { headStartMs: window.headStartMs + steps * secondMs, seconds: seconds.slice(0, size) };
}

export function add(window: Window, more: Partial<Counts>): Window {
  const [newest = nothing, ...older] = window.seconds;
  return { headStartMs: window.headStartMs, seconds: [plus(newest, { ...nothing, ...more }), ...older] };
}

export function totalOf(window: Window): Counts {
  return window.seconds.reduce(plus, nothing);
}

function plus(one: Counts, other: Counts): Counts {
  return {
    calls: one.calls + other.calls,
    failures: one.failures + other.failures,
    backpressure: one.backpressure + other.backpressure,
    outOfMemory: one.outOfMemory + other.outOfMemory,
    firstTokens: one.firstTokens + other.firstTokens,
    slowCalls: one.slowCalls + other.slowCalls,
  };
}
