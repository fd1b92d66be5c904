import { type Logger, pino } from "pino";
import { LogOutput } from "./log-output.js";

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines on standard output: `time` in ISO 8601, `level` by name, never a body or a secret. */
export function createLog(level: LogLevel): Logger {
  const settings = {
    level,
    base: { service: "llm-breaker-extproc" },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(settings, new LogOutput());
}
