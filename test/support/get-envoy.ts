import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findRepoRoot } from "./repo-root.js";

/** The script that gets Envoy is not compiled (it runs before the compiler is there), so it is imported where it lies. */
export async function loadGetEnvoy(): Promise<typeof import("../../envoy/get-envoy.mjs")> {
  return await import(pathToFileURL(join(findRepoRoot(), "envoy", "get-envoy.mjs")).href);
}
