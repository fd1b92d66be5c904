import type { Logger } from "pino";

/** Writes a warning that would be repeated for each request. */
export type Warn = (problem: string) => void;

/** A warning that tells each problem once. */
export function warnOnce(log: Pick<Logger, "warn">): Warn {
  const told = new Set<string>();
  return (problem) => {
    if (told.has(problem)) return;
    told.add(problem);
    log.warn(problem);
  };
}
