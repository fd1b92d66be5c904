// What envoy/observability asks Prometheus.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { findRepoRoot } from "../repo-root.js";

export const folder = join(findRepoRoot(), "envoy", "observability");

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}

export interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

const textOf = (file: string): string => readFileSync(join(folder, file), "utf8");

export function alerts(): Alert[] {
  const { groups } = parse(textOf("alerts.yaml")) as { groups: { rules: Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

export function dashboard(): Dashboard {
  return JSON.parse(textOf("grafana-dashboard.json")) as Dashboard;
}

interface ScrapeConfig {
  readonly job_name: string;
  readonly metrics_path?: string;
  readonly params?: Readonly<Record<string, string>>;
}

interface MonitoredPort {
  readonly path: string;
  readonly params?: Readonly<Record<string, string>>;
}

/** Where prometheus.yaml finds a job's page. */
export function scrapedPath(job: string): string {
  const { scrape_configs } = parse(textOf("prometheus.yaml")) as { scrape_configs: ScrapeConfig[] };
  const found = scrape_configs.find(({ job_name }) => job_name === job);
  if (found === undefined) throw new Error(`prometheus.yaml has no ${job}`);
  const { metrics_path = "/metrics", params } = found;
  return pathOf(metrics_path, params);
}

/** The same of monitors.yaml. */
export function monitoredPaths(): string[] {
  const { spec } = parse(textOf("monitors.yaml")) as { spec: { podMetricsEndpoints: MonitoredPort[] } };
  return spec.podMetricsEndpoints.map(({ path, params }) => pathOf(path, params));
}

const pathOf = (path: string, params: Readonly<Record<string, string>> = {}): string =>
  `${path}?${new URLSearchParams(params)}`;

/** The panels' queries, with what Grafana would put in place of its variables. */
export function panelQueries(): string[] {
  return dashboard().panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "5m").replaceAll(/\$\w+/g, ".*")),
  );
}

/** What the dashboard's variables are filled from. */
export function variableQueries(): string[] {
  return dashboard().templating.list.flatMap(({ definition }) => definition ?? []);
}
