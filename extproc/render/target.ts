import type { ParseArgsConfig } from "node:util";
import type { Plan } from "./plan.js";

/** Options of a target's own, as `parseArgs` gives them. */
export type TargetValues = Readonly<
  Record<string, string | boolean | readonly (string | boolean)[] | undefined>
>;

/** Something that a plan is written for. */
export interface Target {
  readonly name: string;
  /** Lines of `render --help`. */
  readonly help: string;
  readonly options: NonNullable<ParseArgsConfig["options"]>;
  /** @throws CliError for what can't be written. */
  write(plan: Plan, values: TargetValues): Rendered;
}

export interface Rendered {
  readonly text: string;
  /** What whoever runs it has to know or do: for standard error. */
  readonly notes: readonly string[];
}
