/** The sum, or the largest u64 when it would wrap: a deadline that wrapped would lie in the past. */
export function addSaturating(a: u64, b: u64): u64 {
  const sum = a + b;
  return sum < a ? u64.MAX_VALUE : sum;
}

/** The difference, or 0 when it would wrap. */
export function subtractSaturating(a: u64, b: u64): u64 {
  return a > b ? a - b : 0;
}

/** The product, or the largest u64 when it would wrap. */
export function multiplySaturating(a: u64, b: u64): u64 {
  return b !== 0 && a > u64.MAX_VALUE / b ? u64.MAX_VALUE : a * b;
}

/** The u32 difference, or 0 when it would wrap. */
export function subtractCount(a: u32, b: u32): u32 {
  return a > b ? a - b : 0;
}

/** One more, staying at the largest i32. */
export function incrementSaturating(value: i32): i32 {
  return value === i32.MAX_VALUE ? value : value + 1;
}

/** `value` moved into [low, high]. */
export function clamp(value: i32, low: i32, high: i32): i32 {
  return min(max(value, low), high);
}
