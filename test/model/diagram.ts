import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../support/repo-root.js";

const triggers = [
  "FAILURE_RATE",
  "CONSECUTIVE_FAILURES",
  "ENGINE_FATAL",
  "OUT_OF_MEMORY",
  "SLOW_CALL_RATE",
  "CONSECUTIVE_SLOW_CALLS",
  "FAILURE_COUNT",
  "LATENCY_DRIFT",
  "COST_RATE",
  "BACKPRESSURE",
];

/** Each way that docs/concepts.md's state diagram has, as "Closed → Open: ENGINE_FATAL". */
export function readDiagram(): ReadonlySet<string> {
  const text = readFileSync(join(findRepoRoot(), "docs", "concepts.md"), "utf8");
  const [, diagram = ""] = /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(text) ?? [];
  const ways = new Set<string>();
  for (const [, from = "", to = "", label = ""] of diagram.matchAll(/^ {4}(\w+) --> (\w+): (.*)$/gm)) {
    const causes: readonly string[] = label.match(/[A-Z]+(?:_[A-Z]+)+/g) ?? [];
    const all = label.startsWith("a trigger") ? [...causes, ...triggers] : causes;
    for (const cause of all) ways.add(way(from, to, cause));
  }
  return ways;
}

export function way(from: string, to: string, cause: string): string {
  return `${from} → ${to}: ${cause}`;
}

/** A state as the diagram calls it. */
export function phaseName(state: number, stage: number): string {
  if (state === 0) return "Closed";
  if (state === 1) return "Open";
  return stage > 0 ? "Ramp" : "Probing";
}
