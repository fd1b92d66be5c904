import { parseText } from "./json.js";
import { scanTopLevel } from "./top-level.js";

/**
 * Whether a body names two models, so that it depends on the server which one is meant: some read the first of equal keys,
 * most the last, and some take keys of other letter case too. The gate finds out the same about bodies it can read.
 */
export function namesTwoModels(bytes: Buffer): boolean {
  const members = scanTopLevel(bytes)?.members ?? [];
  const names = members
    .filter(({ key }) => key.length === 5 && key.toLowerCase() === "model")
    .map(({ valueStart, valueEnd }) => parseText(bytes.subarray(valueStart, valueEnd)));
  return names.some((name) => name !== names[0]);
}
