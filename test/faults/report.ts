import { tokensIn } from "./caller.js";
import type { Result } from "./run-fault.js";

const columns = ["fault", "commit", "the caller got", "gpu/small/public", "seconds", "answered by"];

/** One line a run, its columns as wide as they need to be. */
export function table(results: readonly Result[]): string {
  const rows = results.map(({ what, commit, callerGot, attempts, seconds, answeredBy }) => [
    what,
    commit,
    callerGot,
    `${attempts.gpu}/${attempts.small}/${attempts.public}`,
    seconds.toFixed(1),
    answeredBy,
  ]);
  const widths = columns.map((title, at) =>
    Math.max(...[columns, ...rows].map((row) => row[at]?.length ?? 0, title)),
  );
  return [columns, ...rows]
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function failures(results: readonly Result[]): string[] {
  return results.flatMap(({ fault, commit, checks }) =>
    checks
      .filter(({ passed }) => !passed)
      .map(({ check, detail }) => `FAILED ${fault} (${commit}): ${check}: ${detail}`),
  );
}

export interface Totals {
  readonly passed: number;
  readonly failed: number;
}

export function totals(results: readonly Result[]): Totals {
  const checks = results.flatMap((result) => result.checks);
  const passed = checks.filter((each) => each.passed).length;
  return { passed, failed: checks.length - passed };
}

/** All that the checks judged by, in one object. */
export function asJson(results: readonly Result[], seconds: number): string {
  const checks = results.flatMap(({ fault, commit, checks: own }) =>
    own.map((each) => ({ fault, commit, ...each })),
  );
  const faults = results.map(({ checks: _, calls, ...result }) => ({
    ...result,
    calls: calls.map(withoutBody),
  }));
  return JSON.stringify({ ...totals(results), seconds, faults, checks });
}

/** A stream's bytes are long and say no more than what was read from them. */
function withoutBody({ body, text, ...received }: Result["calls"][number]): object {
  return { ...received, tokens: tokensIn(text), ...(received.status !== 200 && { body }) };
}
