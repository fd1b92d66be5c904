import { parseArgs } from "node:util";

export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface FuzzArguments {
  /** The targets to run. */
  readonly only: readonly string[];
  /** Of each target. */
  readonly cases: number;
  readonly seed: number;
  /** Of each target: it ends then, however many cases it has run. */
  readonly limitMs: number;
}

const CASES = 1_000_000;
const SEED = 20_261_130;

/** @throws UsageError */
export function readArguments(words: readonly string[], known: readonly string[]): FuzzArguments {
  const { values } = parse(words);
  const only = values.only === undefined ? known : values.only.split(",");
  const unknown = only.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new UsageError(`--only: no target ${unknown.join(", ")}; there are ${known.join(", ")}`);
  const minutes = values.minutes === undefined ? undefined : positive("minutes", values.minutes);
  // Whoever gives a time wants it filled.
  const cases = positive("cases", values.cases ?? String(minutes === undefined ? CASES : 1e9));
  return {
    only,
    cases,
    seed: positive("seed", values.seed ?? String(SEED)),
    limitMs: minutes === undefined ? Number.POSITIVE_INFINITY : minutes * 60_000,
  };
}

function parse(words: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({ args: [...words], options: { only: text, cases: text, seed: text, minutes: text } });
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause });
  }
}

function positive(name: string, given: string): number {
  const number = Number(given);
  const isWhole = name === "minutes" || Number.isInteger(number);
  if (!(number > 0 && number <= 2 ** 40 && isWhole))
    throw new UsageError(`--${name} must be a ${isWhole ? "" : "whole "}number over 0, got ${given}`);
  return number;
}
