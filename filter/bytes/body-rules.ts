import { findByte } from "./scan";

// Patterns of an operator, searched in the start of an answer's body: all at once, in one pass, wherever the
// body is cut (Knuth, Morris and Pratt: a state says how much of the pattern the last bytes are).

export const MAX_RULES: i32 = 8;
export const MAX_PATTERN: i32 = 64;
/** Bytes of a body that are looked at. */
export const SEARCHED: i32 = 4096;

/** The search in one body. Fixed size, no pointer inside. */
@unmanaged
class Matcher {
  /** Bytes seen so far, up to `SEARCHED`. */
  seen: i32;
  matched: i32;
  /** One byte a pattern: how much of it the last bytes are. */
  states: u64;
}

export const MATCHER_SIZE: i32 = <i32>offsetof<Matcher>();

/** What a pattern must be: 1 to 64 bytes of UTF-8. */
export function isPattern(text: string): bool {
  const size = String.UTF8.byteLength(text);
  return size > 0 && size <= MAX_PATTERN;
}

/** The patterns of one backend, immutable. Bytes are compared as they are, case included. */
@final
export class BodyRules {
  readonly count: i32;
  private readonly sizes: StaticArray<i32>;
  /** `MAX_PATTERN` bytes each. */
  private readonly patterns: StaticArray<u8>;
  /** For each prefix of a pattern: size of the longest proper prefix that is also its end. */
  private readonly borders: StaticArray<u8>;

  /** Takes patterns that `isPattern` approves, `MAX_RULES` at most; others never match. */
  constructor(texts: string[]) {
    const count = min(texts.length, MAX_RULES);
    this.count = count;
    this.sizes = new StaticArray<i32>(count);
    this.patterns = new StaticArray<u8>(count * MAX_PATTERN);
    this.borders = new StaticArray<u8>(count * MAX_PATTERN);
    for (let i = 0; i < count; i++) {
      if (isPattern(texts[i])) this.add(i, String.UTF8.encode(texts[i]));
    }
  }

  private add(rule: i32, bytes: ArrayBuffer): void {
    const size = bytes.byteLength;
    this.sizes[rule] = size;
    memory.copy(this.patternOf(rule), changetype<usize>(bytes), <usize>size);
    const borders = this.bordersOf(rule);
    let state: usize = 0;
    for (let i: usize = 1; i < <usize>size; i++) {
      state = this.advance(rule, state, load<u8>(this.patternOf(rule) + i));
      store<u8>(borders + i, <u8>state);
    }
  }

  /** Searches on for one pattern from `state`; the new state, which is the pattern's size once it is found. */
  search(rule: i32, state: usize, bytes: usize, end: usize): usize {
    const size = <usize>unchecked(this.sizes[rule]);
    if (size === 0) return 0;
    const first = load<u8>(this.patternOf(rule));
    for (let at = bytes; at < end; at++) {
      if (state === 0) {
        at = findByte(at, end, first);
        if (at === end) break;
      }
      state = this.advance(rule, state, load<u8>(at));
      if (state === size) break;
    }
    return state;
  }

  isFound(rule: i32, state: usize): bool {
    return state > 0 && state === <usize>unchecked(this.sizes[rule]);
  }

  /** The state after one more byte, from a state in which the pattern is not whole. */
  private advance(rule: i32, state: usize, byte: u8): usize {
    const pattern = this.patternOf(rule);
    while (state > 0 && load<u8>(pattern + state) !== byte)
      state = load<u8>(this.bordersOf(rule) + state - 1);
    return load<u8>(pattern + state) === byte ? state + 1 : 0;
  }

  private patternOf(rule: i32): usize {
    return changetype<usize>(this.patterns) + <usize>(rule * MAX_PATTERN);
  }

  private bordersOf(rule: i32): usize {
    return changetype<usize>(this.borders) + <usize>(rule * MAX_PATTERN);
  }
}

/** Makes `MATCHER_SIZE` bytes at `ptr` ready for a new body, whatever they held. */
export function resetMatcher(ptr: usize): void {
  const matcher = changetype<Matcher>(ptr);
  matcher.seen = 0;
  matcher.matched = -1;
  matcher.states = 0;
}

/** Takes the next bytes of the body; they may be cut anywhere. O(bytes × rules), allocates nothing. */
export function feedMatcher(rules: BodyRules, ptr: usize, bytes: usize, length: i32): void {
  const matcher = changetype<Matcher>(ptr);
  const size = min(length, SEARCHED - matcher.seen);
  if (size <= 0) return;
  matcher.seen += size;
  const states = ptr + offsetof<Matcher>("states");
  // Only a rule before the one that matched can still change the answer.
  const limit = matcher.matched < 0 ? rules.count : matcher.matched;
  for (let rule = 0; rule < limit; rule++) {
    const slot = states + <usize>rule;
    const state = rules.search(rule, load<u8>(slot), bytes, bytes + <usize>size);
    store<u8>(slot, <u8>state);
    if (!rules.isFound(rule, state)) continue;
    matcher.matched = rule;
    return;
  }
}

/** Index of the first rule in the list whose pattern was seen, or -1. */
export function matchedRule(ptr: usize): i32 {
  return changetype<Matcher>(ptr).matched;
}
