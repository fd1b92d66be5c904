import type { KillResult } from "./kills.js";
import { allFaults, nameOf } from "./plan.js";

export function told({ seed, seconds, figures, checks }: KillResult): string {
  const failed = checks.filter(({ passed }) => !passed);
  const verdict = failed.length === 0 ? "ok    " : "FAILED";
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  const lines = failed.map(({ check, detail }) => `    ${check}: ${detail}`);
  return [`${verdict} seed ${seed}, ${seconds} s: ${shown.join(" · ")}`, ...lines].join("\n");
}

export const faultColumns = ["fault", "times", "seconds it lasted"] as const;
export const cutColumns = ["why a caller was cut", "callers"] as const;

/** A row for each fault that was played. */
export function faultRows({ played }: KillResult): string[][] {
  return allFaults.flatMap((fault) => {
    const strikes = played.strikes.filter((each) => nameOf(each) === nameOf(fault));
    if (strikes.length === 0) return [];
    const seconds = strikes.map(({ atMs, endMs }) => (endMs - atMs) / 1_000);
    const span = `${Math.min(...seconds).toFixed(1)} to ${Math.max(...seconds).toFixed(1)}`;
    return [[nameOf(fault), String(strikes.length), fault.act === "trap" ? "" : span]];
  });
}

/** Callers without a whole answer, by what explains it. */
export function cutRows({ cut }: KillResult): string[][] {
  return [...cut].map(([reason, count]) => [reason, String(count)]);
}

export function asTable(result: KillResult): string {
  return [markdown(faultColumns, faultRows(result)), markdown(cutColumns, cutRows(result))].join("\n\n");
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

export function asJson({ played, cut, ...result }: KillResult): string {
  const { strikes, rounds, wellMs } = played;
  return JSON.stringify({
    ...result,
    rounds,
    wellMs: wellMs.map(Math.round),
    cut: Object.fromEntries(cut),
    strikes,
  });
}
