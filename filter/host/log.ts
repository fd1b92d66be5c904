import { proxy_log } from "./abi";

export enum Level {
  TRACE,
  DEBUG,
  INFO,
  WARN,
  ERROR,
  CRITICAL,
}

/** Logs a line. Builds garbage, so it is for rare events: transitions, faults, configuration. */
export function log(level: Level, message: string): void {
  const bytes = String.UTF8.encode(message);
  proxy_log(level, changetype<usize>(bytes), bytes.byteLength);
  litter = true;
}

let litter: bool = true;

/** Frees what rare events left behind. Only for the start of a tick, when no reference lives on wasm's stack. */
export function collectGarbage(): void {
  if (!litter) return;
  litter = false;
  __collect();
}

export function noteGarbage(): void {
  litter = true;
}
