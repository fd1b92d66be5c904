/** A seeded source of numbers in [0, 1): the same seed gives the same story. */
export type Random = () => number;

/** mulberry32: 32 bits of state, good enough to spread arrivals and lengths, and short enough to read. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** A whole number in [low, high], both ends included. */
export function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

/** `value` ± `fraction` of it, evenly spread. */
export function jittered(random: Random, value: number, fraction: number): number {
  return value * (1 + fraction * (2 * random() - 1));
}

/** The wait until the next arrival of a Poisson process with `perSecond` arrivals, in ms. */
export function poissonGapMs(random: Random, perSecond: number): number {
  return (-Math.log(1 - random()) / perSecond) * 1000;
}
