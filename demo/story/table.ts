import type { CallRecord } from "../load/caller.js";
import type { Span } from "./phases.js";
import type { Check } from "./verdict.js";

type Row = readonly (string | number)[];

/** Columns as wide as their widest cell; the first is left-aligned, the others right-aligned. */
export function renderTable(rows: readonly Row[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => String(row[column] ?? "").length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? String(cell).padEnd(widths[0] ?? 0) : String(cell).padStart(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The value below which `percent` of the values lie; 0 for none. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}

/** One row per stretch of the story: how many callers began in it, who served them, and how long a first token took. */
export function phaseTable(
  spans: readonly Span[],
  records: readonly CallRecord[],
  tiers: readonly string[],
  story: { readonly startMs: number; readonly endMs: number },
): string {
  const header: Row = [
    "phase",
    "seconds",
    "callers",
    "complete",
    ...tiers,
    "errors",
    "broken",
    "bare",
    "p50 ms",
    "p95 ms",
  ];
  const callersIn = (span: Span): CallRecord[] =>
    records.filter(({ startMs }) => startMs >= span.startMs && startMs < span.endMs);
  // A probe takes moments; its row is only of interest when callers came meanwhile.
  const shown = spans.filter((span) => span.phase !== "probing" || callersIn(span).length > 0);
  const rows = shown.map((span): Row => {
    const inside = callersIn(span);
    const of = (verdict: CallRecord["verdict"]): CallRecord[] =>
      inside.filter((record) => record.verdict === verdict);
    const waits = inside
      .filter((record) => record.firstTokenMs > 0)
      .map((record) => record.firstTokenMs - record.startMs);
    const seconds = (Math.min(span.endMs, story.endMs) - Math.max(span.startMs, story.startMs)) / 1000;
    return [
      span.phase === "open" ? `open ${span.opening}` : span.phase,
      seconds.toFixed(1),
      inside.length,
      of("ok").length,
      ...tiers.map((tier) => of("ok").filter((record) => record.backend === tier).length),
      of("jsonError").length,
      of("brokenStream").length,
      of("bareFailure").length,
      Math.round(percentile(waits, 50)),
      Math.round(percentile(waits, 95)),
    ];
  });
  return renderTable([header, ...rows]);
}

export function checkList(checks: readonly Check[]): string {
  return checks
    .map(({ promise, kept, seen }) => `${kept ? "  ok  " : "FAIL  "}${promise}: ${seen}`)
    .join("\n");
}
