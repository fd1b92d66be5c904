import type { Colours } from "../cli/colours.js";
import { plainText } from "../cli/plain.js";
import type { Finding, Report } from "./check.js";

export function toJson({ findings, usesBreaker }: Report): string {
  return JSON.stringify({ usesBreaker, findings }, undefined, 2);
}

/** A line a finding as compilers write it, and below it what it costs and what to do. */
export function toText(report: Report, colours: Colours): string {
  const { findings, usesBreaker } = report;
  const lines = findings.flatMap((finding) => show(finding, colours));
  // What can't be read may have it.
  const isRead = findings.every(({ rule }) => rule !== "unreadable");
  if (!usesBreaker && isRead) lines.push(...withoutBreaker(report));
  else lines.push(summary(findings));
  return lines.join("\n");
}

function show({ file, line, column, level, rule, what, harm, fix }: Finding, colours: Colours): string[] {
  const paint = level === "error" ? colours.red : colours.yellow;
  return [`${plainText(file)}:${line}:${column} ${paint(level)} ${rule} — ${what}: ${harm}; fix: ${fix}`];
}

function summary(findings: readonly Finding[]): string {
  if (findings.length === 0) return "nothing found";
  const count = (level: string) => findings.filter((finding) => finding.level === level).length;
  return `${many(count("error"), "error")}, ${many(count("warning"), "warning")}; docs/check.md tells more of each rule`;
}

function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function withoutBreaker({ setup }: Report): string[] {
  const clusters = setup.clusters.map(({ name }) => name);
  return [
    "The breaker is not in these files. It needs, and `llm-breaker render policy.yaml --into FILE` adds:",
    "  the gate before the router of the listener that LLM traffic comes to, with the policy",
    `  the meter among the http_filters of each backend's cluster${clusters.length > 0 ? ` (there are ${clusters.slice(0, 10).join(", ")})` : ""}`,
    "  for failover the matcher, the retry policy and the stop cluster: envoy/full.yaml; for one backend alone: envoy/minimal.yaml",
  ];
}
