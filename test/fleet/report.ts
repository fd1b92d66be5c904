import type { Engine } from "./gateway-config.js";
import type { Result } from "./scenario.js";
import type { Usage } from "./usage.js";

/** All scenarios of one fleet. */
export interface FleetRun {
  readonly engine: Engine;
  readonly gateways: number;
  readonly usage: Usage;
  readonly results: readonly Result[];
}

export function told({ scenario, engine, seconds, figures, checks }: Result): string {
  const failed = checks.filter(({ passed }) => !passed);
  const verdict = failed.length === 0 ? "ok    " : "FAILED";
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  const lines = failed.map(({ check, detail }) => `    ${check}: ${detail}`);
  return [`${verdict} ${scenario} (${engine}, ${seconds} s): ${shown.join(" · ")}`, ...lines].join("\n");
}

export function toldUsage(usage: Usage): string {
  const { envoyMb, envoyCpuPercent, serviceMb, serviceCpuPercent } = usage;
  return `an Envoy ${envoyMb} MB, ${envoyCpuPercent} % of a core; a service ${serviceMb} MB, ${serviceCpuPercent} %`;
}

export function totals(results: readonly Result[]): { passed: number; failed: number } {
  const checks = results.flatMap((result) => result.checks);
  const passed = checks.filter((each) => each.passed).length;
  return { passed, failed: checks.length - passed };
}

export function asJson(runs: readonly FleetRun[], results: readonly Result[], seconds: number): string {
  const fleets = runs.map(({ engine, gateways, usage }) => ({ engine, gateways, usage }));
  return JSON.stringify({ ...totals(results), seconds: Math.round(seconds), fleets, scenarios: results });
}
