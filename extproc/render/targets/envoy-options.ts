import { isAbsolute, join, resolve } from "node:path";
import { CliError } from "../../cli-error.js";
import { findRepoRoot } from "../../root.js";
import type { TargetValues } from "../target.js";

/** What is known of the Envoy that will read it. */
export interface EnvoyMeans {
  /** Folder of the filter's modules where Envoy runs. */
  readonly wasmFolder: string;
  /** Before 1.39 a retry can't go to another cluster. */
  readonly canChangeCluster: boolean;
  /** Before 1.37 a key is sent as its file has it. Undefined: it can. */
  readonly canPrefixKeys?: boolean;
}

const MAJOR = 1000;
const FIRST_WITH_CHANGE = MAJOR + 39;
const FIRST_WITH_PREFIX = MAJOR + 37;
const OLDEST = MAJOR + 36;

export const ENVOY_OPTIONS = {
  wasm: { type: "string" },
  "envoy-version": { type: "string" },
  into: { type: "string" },
  route: { type: "string", multiple: true },
  listener: { type: "string" },
  chain: { type: "string" },
  "dry-run": { type: "boolean" },
} as const;

export const ENVOY_HELP = `  --wasm FOLDER            where Envoy finds the filter's modules; this package's build folder if not given
  --envoy-version 1.36     the Envoy that will run it, 1.40 if not given; before 1.39 nothing is failed over in flight
  --into envoy.yaml        puts the breaker into a file that you have: what is in it stays, byte for byte, and a second time changes
                           nothing. A backend without url is the cluster of its name there. It is written in its place, unless
                           -o names another file (-o - is standard output)
  --route NAME             with --into: the route that is meant, by its name, prefix or path; not needed where there is one
  --listener NAME          with --into: only routes of this listener
  --chain NAME             with --into: the chain of these routes
  --dry-run                with --into: only tells what would change`;

/** @throws CliError for what can't be meant. */
export function envoyMeans(values: TargetValues): EnvoyMeans {
  const folder = typeof values.wasm === "string" ? values.wasm : join(findRepoRoot(), "build");
  const version = typeof values["envoy-version"] === "string" ? values["envoy-version"] : "1.40";
  return {
    // A folder that is there is told whole: Envoy may be started anywhere.
    wasmFolder: isAbsolute(folder) ? folder.replace(/(?<=.)\/+$/, "") : resolve(folder),
    canChangeCluster: numberOf(version) >= FIRST_WITH_CHANGE,
    canPrefixKeys: numberOf(version) >= FIRST_WITH_PREFIX,
  };
}

function numberOf(version: string): number {
  const [, major, minor] = /^v?(\d{1,3})\.(\d{1,3})(?:\.\d+)?$/.exec(version) ?? [];
  const number = Number(major) * MAJOR + Number(minor);
  if (number >= OLDEST) return number;
  throw new CliError(2, `--envoy-version must be 1.36 or later, like 1.40, got ${version}`);
}
