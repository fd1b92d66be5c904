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

/** A metric that a query asks for, and what its labels must be, as far as the query is definite. */
export interface Selector {
  readonly name: string;
  readonly labels: readonly string[];
  readonly values: Readonly<Record<string, string>>;
}

/** The metrics, of ours and of Envoy, that a PromQL expression names. */
export function selectorsOf(query: string): Selector[] {
  const found = query.matchAll(/\b((?:llm_breaker|envoy)_\w+)(\{[^}]*\})?/g);
  return [...found]
    .map(([, name = "", selector = ""]) => {
      const matchers = [...selector.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)];
      const exact = matchers.filter(([, , operator]) => operator === "=");
      return {
        name: name.replace(/_bucket$/, ""),
        labels: matchers.map(([, label = ""]) => label),
        values: Object.fromEntries(exact.map(([, label = "", , value = ""]) => [label, value])),
      };
    })
    .filter(({ name }) => !/^envoy_(response_code_class|http_conn_manager_prefix|cluster_name)$/.test(name));
}

/** Whether one line of the page is of the metric and has those labels. */
export function hasLine(page: string, { name, values }: Selector): boolean {
  const wanted = Object.entries(values).map(([label, value]) => `${label}="${value}"`);
  const lines = page.split("\n").filter((line) => line.startsWith(name));
  return lines.some((line) => wanted.every((each) => line.includes(each)));
}
