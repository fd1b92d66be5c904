import {
  BodyRules,
  feedMatcher,
  isPattern,
  MATCHER_SIZE,
  MAX_PATTERN,
  matchedRule,
  resetMatcher,
  SEARCHED,
} from "../../../filter/bytes/body-rules";
import { guarded, isIntact } from "../../fuzz/filter/guard-words";
import { atMemoryEnd, Noise } from "./support";

const matcher = guarded(MATCHER_SIZE);

/** The rule that matches, fed in pieces of `step` bytes. */
function match(rules: BodyRules, bytes: ArrayBuffer, step: i32): i32 {
  memory.fill(matcher, 0xcc, MATCHER_SIZE);
  resetMatcher(matcher);
  for (let at = 0; at < bytes.byteLength; at += step) {
    const length = min(step, bytes.byteLength - at);
    const chunk = atMemoryEnd(length);
    memory.copy(chunk, changetype<usize>(bytes) + <usize>at, <usize>length);
    feedMatcher(rules, matcher, chunk, length);
    memory.fill(chunk, 0xcc, <usize>length);
  }
  return matchedRule(matcher);
}

/** The same however it is cut, or -100. */
function rule(patterns: string[], body: string): i32 {
  const rules = new BodyRules(patterns);
  const bytes = String.UTF8.encode(body);
  const whole = match(rules, bytes, max(bytes.byteLength, 1));
  for (let step = 1; step < min(bytes.byteLength, 70); step++) {
    if (match(rules, bytes, step) !== whole) return -100;
  }
  return whole;
}

describe("rules on a body", () => {
  it("match anywhere in it, byte by byte as they are", () => {
    expect(rule(['"code":-1'], '{"code":-1}')).toBe(0);
    expect(rule(["abc"], "abc")).toBe(0);
    expect(rule(["abc"], "xxabc")).toBe(0);
    expect(rule(["abc"], "ab abd ABC")).toBe(-1);
    expect(rule(["€"], "1 € 2")).toBe(0);
    expect(rule(["x"], "x")).toBe(0);
    expect(rule(["x"], "")).toBe(-1);
    expect(rule([], "x")).toBe(-1);
  });

  it("match when what looks like the start is not", () => {
    expect(rule(["aab"], "aaab")).toBe(0);
    expect(rule(["abababc"], "ababababc")).toBe(0);
    expect(rule(["aabaaab"], "aabaabaaab")).toBe(0);
    expect(rule(["aabaaac"], "aabaabaaab")).toBe(-1);
    expect(rule(["a".repeat(63) + "b"], "a".repeat(200) + "b")).toBe(0);
    expect(rule(["a".repeat(63) + "b"], "a".repeat(62) + "b")).toBe(-1);
  });

  it("the first in the list wins, not the first in the body", () => {
    expect(rule(["two", "one"], "one two")).toBe(0);
    expect(rule(["none", "two", "one"], "one two")).toBe(1);
    expect(rule(["a", "a"], "a")).toBe(0);
    expect(rule(["0", "1", "2", "3", "4", "5", "6", "7"], "7")).toBe(7);
    expect(rule(["0", "1", "2", "3", "4", "5", "6", "7"], "76543210")).toBe(0);
  });

  it("look at the first 4096 bytes only", () => {
    expect(rule(["end"], "x".repeat(SEARCHED - 3) + "end")).toBe(0);
    expect(rule(["end"], "x".repeat(SEARCHED - 2) + "end")).toBe(-1);
    expect(rule(["end"], "x".repeat(3 * SEARCHED) + "end")).toBe(-1);
  });

  it("have 1 to 64 bytes, and are 8 at most", () => {
    expect(isPattern("")).toBe(false);
    expect(isPattern("x".repeat(MAX_PATTERN))).toBe(true);
    expect(isPattern("x".repeat(MAX_PATTERN + 1))).toBe(false);
    expect(isPattern("€".repeat(21))).toBe(true);
    expect(isPattern("€".repeat(22))).toBe(false);
    expect(rule(["", "x".repeat(65), "b"], "x".repeat(70) + "b")).toBe(2);
    expect(rule(["1", "2", "3", "4", "5", "6", "7", "8", "9"], "9")).toBe(-1);
  });

  it("take empty and negative lengths for nothing", () => {
    const rules = new BodyRules(["a"]);
    resetMatcher(matcher);
    feedMatcher(rules, matcher, 0, 0);
    feedMatcher(rules, matcher, 0, -5);
    expect(matchedRule(matcher)).toBe(-1);
  });

  it("find what a plain search finds, in noise of few letters", () => {
    const noise = new Noise(4096);
    let found = 0;
    for (let round = 0; round < 4000; round++) {
      const patterns: string[] = [];
      for (let i = 1 + noise.next(8); i > 0; i--) patterns.push(word(noise, 1 + noise.next(7)));
      const body = word(noise, noise.next(60));
      let wanted = -1;
      for (let i = patterns.length - 1; i >= 0; i--) if (body.includes(patterns[i])) wanted = i;
      const bytes = String.UTF8.encode(body);
      if (match(new BodyRules(patterns), bytes, 1 + noise.next(9)) !== wanted) throw new Error(body);
      if (wanted > 0) found++;
    }
    expect(found).toBeGreaterThan(300);
    expect(isIntact(matcher, MATCHER_SIZE)).toBe(true);
  });
});

function word(noise: Noise, length: i32): string {
  let text = "";
  for (let i = 0; i < length; i++) text += noise.next(2) === 0 ? "a" : "b";
  return text;
}
