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

export const usage = `Usage: npm run fuzz -- [options]
  --only NAME,NAME   some targets, as test/fuzz/README.md names them
  --cases N          of each target (default 1000000, or without end where --minutes is given)
  --minutes N        of each target: it ends then, however many cases it has run
  --seed N           which cases (default 20261130)
  -h, --help         this`;

const CASES = 1_000_000;
const SEED = 20_261_130;

/** Undefined: only help is asked for. @throws UsageError */
export function readArguments(words: readonly string[], known: readonly string[]): FuzzArguments | undefined {
  const { values } = parse(words);
  if (values.help) return undefined;
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
  const help = { type: "boolean", short: "h" } as const;
  try {
    return parseArgs({
      args: [...words],
      options: { only: text, cases: text, seed: text, minutes: text, help },
    });
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
