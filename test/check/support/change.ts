import type { CheckOptions } from "../../../extproc/check/check.js";

type Change = readonly [from: string | RegExp, to: string];

export interface Case {
  readonly rule: string;
  readonly in?: string;
  readonly changes: readonly Change[];
  /** What the same change brings besides. */
  readonly also?: readonly string[];
  readonly options?: CheckOptions;
  /** Another file of the set-up. */
  readonly beside?: string;
}

export const FULL = "envoy/full.yaml";
export const MINIMAL = "envoy/minimal.yaml";
