import type { BackendReport, Latency } from "./contract.js";

/** Percentiles can't be added up: those of the gateway that saw most first tokens tell most. */
export function mostSeen(reports: readonly BackendReport[]): Latency | undefined {
  const told = reports.flatMap(({ latency }) => (latency === undefined ? [] : [latency]));
  const [first, ...others] = told;
  return first && others.reduce((most, other) => (other.samples > most.samples ? other : most), first);
}
