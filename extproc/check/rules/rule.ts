import type { Setup } from "../setup/setup.js";
import type { Located } from "../tree/located.js";

export type Level = "error" | "warning";

export interface Found {
  readonly at: Located;
  /** What is there: `route chat has no timeout`. */
  readonly what: string;
  /** In place of the rule's own, where the remedy depends on what was found. */
  readonly fix?: string;
}

/** One trap. */
export interface Rule {
  readonly id: string;
  /** error: callers meet it. warning: it costs something, or bites only some. */
  readonly level: Level;
  /** What happens to callers. */
  readonly harm: string;
  readonly fix: string;
  find(setup: Setup): Iterable<Found>;
}
