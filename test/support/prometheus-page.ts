// Prometheus pages and queries, as far as names and labels go.
import { strict as assert } from "node:assert";
import { send } from "./client.js";

/** A metric as a page shows it, or a table tells of it. */
export interface Metric {
  readonly kind: string;
  /** Sorted. Undefined: the page has no line of it now. */
  readonly labels: readonly string[] | undefined;
}

/** By name. Whatever a histogram's lines end with is none of its name, and `le` none of its labels. */
export type Metrics = Map<string, Metric>;

export async function scrape(url: string): Promise<string> {
  const { status, text } = await send(url);
  assert.equal(status, 200, url);
  return text;
}

export function metricsOf(page: string): Metrics {
  const metrics: Metrics = new Map();
  let [name, kind]: (string | undefined)[] = [];
  for (const line of page.split("\n")) {
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (type) {
      [, name, kind] = type;
      if (name !== undefined && kind !== undefined) metrics.set(name, { kind, labels: undefined });
    } else if (name !== undefined && kind !== undefined && line.startsWith(name)) {
      metrics.set(name, { kind, labels: labelsOf(line) });
    }
  }
  return metrics;
}

function labelsOf(line: string): string[] {
  const names = [...line.matchAll(/[{,]([a-zA-Z_]\w*)="(?:[^"\\]|\\.)*"/g)].map(([, name = ""]) => name);
  return names.filter((name) => name !== "le").sort();
}

/** The metrics of ours that a PromQL expression names, each with the labels that its selector names. */
export function selectorsOf(query: string): { readonly name: string; readonly labels: readonly string[] }[] {
  return [...query.matchAll(/\b(llm_breaker_\w+|envoy_\w+)(\{[^}]*\})?/g)].map(
    ([, name = "", selector = ""]) => ({
      name: name.replace(/_bucket$/, ""),
      labels: [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
    }),
  );
}
