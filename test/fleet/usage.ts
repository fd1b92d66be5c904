import { readFileSync } from "node:fs";
import { cpuNanoseconds } from "../../bench/cpu-time.js";
import { monotonicMs } from "../../demo/clock.js";
import type { Fleet } from "./fleet.js";

/** What the fleet's processes use, each kind's mean: resident memory, and the share of a core since the fleet's start. */
export interface Usage {
  readonly envoyMb: number;
  readonly envoyCpuPercent: number;
  readonly serviceMb: number;
  readonly serviceCpuPercent: number;
}

export function usageOf(fleet: Fleet): Usage {
  const ageMs = monotonicMs() - fleet.startedMs;
  const envoys = fleet.gateways.flatMap(({ envoy }) => envoy?.pid ?? []);
  const services = fleet.gateways.flatMap(({ service }) => service?.pid ?? []);
  const cpuPercent = (pid: number) => cpuNanoseconds(pid) / 1e4 / ageMs;
  return {
    envoyMb: mean(envoys.map(residentMb)),
    envoyCpuPercent: mean(envoys.map(cpuPercent)),
    serviceMb: mean(services.map(residentMb)),
    serviceCpuPercent: mean(services.map(cpuPercent)),
  };
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}

function mean(values: readonly number[]): number {
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 10) / 10;
}
