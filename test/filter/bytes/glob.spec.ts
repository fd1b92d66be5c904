import { fitsGlob } from "../../../filter/bytes/glob";
import { atMemoryEnd, Noise } from "./support";

/** Where a read past the text's end would trap. */
function fits(pattern: string, text: string): bool {
  const patternBytes = String.UTF8.encode(pattern);
  const bytes = String.UTF8.encode(text);
  const at = atMemoryEnd(bytes.byteLength);
  memory.copy(at, changetype<usize>(bytes), bytes.byteLength);
  return fitsGlob(changetype<usize>(patternBytes), patternBytes.byteLength, at, bytes.byteLength);
}

/** The same by the plain definition. */
function fitsByDefinition(pattern: string, text: string): bool {
  if (pattern.length === 0) return text.length === 0;
  if (pattern.charAt(0) === "*") {
    return (
      fitsByDefinition(pattern.substring(1), text) ||
      (text.length > 0 && fitsByDefinition(pattern, text.substring(1)))
    );
  }
  return (
    text.length > 0 &&
    pattern.charAt(0) === text.charAt(0) &&
    fitsByDefinition(pattern.substring(1), text.substring(1))
  );
}

describe("a pattern for names", () => {
  it("without a star is the name itself, letter case included", () => {
    expect(fits("gpt-4o", "gpt-4o")).toBe(true);
    expect(fits("gpt-4o", "gpt-4o-mini")).toBe(false);
    expect(fits("gpt-4o", "my-gpt-4o")).toBe(false);
    expect(fits("gpt-4o", "GPT-4o")).toBe(false);
    expect(fits("gpt-4o", "")).toBe(false);
  });

  it("has both its ends anchored", () => {
    expect(fits("qwen3-*", "qwen3-32b")).toBe(true);
    expect(fits("qwen3-*", "qwen3-")).toBe(true);
    expect(fits("qwen3-*", "a/qwen3-32b")).toBe(false);
    expect(fits("*-mini", "gpt-4o-mini")).toBe(true);
    expect(fits("*-mini", "gpt-4o-mini-2")).toBe(false);
    expect(fits("*/llama-*-8b*", "meta/llama-3-8b-instruct")).toBe(true);
    expect(fits("*/llama-*-8b*", "meta/llama-3-70b")).toBe(false);
  });

  it("may be stars alone", () => {
    expect(fits("*", "")).toBe(true);
    expect(fits("*", "x")).toBe(true);
    expect(fits("**", "xyz")).toBe(true);
  });

  it("tries the last star again as often as it takes", () => {
    expect(fits("*aab", "aaaaaaaab")).toBe(true);
    expect(fits("a*b*c", "a-b-c-b-c")).toBe(true);
    expect(fits("a*b*c", "a-b-c-b")).toBe(false);
  });

  it("is no regular expression", () => {
    expect(fits("a.c", "abc")).toBe(false);
    expect(fits("a?c", "abc")).toBe(false);
    expect(fits("[ab]", "a")).toBe(false);
  });

  it("does as its definition says", () => {
    const noise = new Noise(99);
    let fitting = 0;
    for (let round = 0; round < 20_000; round++) {
      let pattern = "";
      let text = "";
      for (let i = noise.next(7); i > 0; i--) pattern += "ab*".charAt(noise.next(3));
      for (let i = noise.next(8); i > 0; i--) text += "ab".charAt(noise.next(2));
      const expected = fitsByDefinition(pattern, text);
      if (fits(pattern, text) !== expected) throw new Error(pattern + " and " + text);
      if (expected) fitting++;
    }
    expect(fitting).toBeGreaterThan(2_000);
  });

  it("takes no time that grows beyond pattern times text", () => {
    const pattern = "*a".repeat(63) + "*b";
    expect(fits(pattern, "a".repeat(128))).toBe(false);
  });
});
