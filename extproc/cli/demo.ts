import { spawn } from "node:child_process";
import { join } from "node:path";
import { findRepoRoot } from "../root.js";

/** Runs the story of an outage, as `npm run demo` does once all is built. */
export async function demo(words: readonly string[]): Promise<number> {
  const main = join(findRepoRoot(), "build", "js", "demo", "main.js");
  const child = spawn(process.execPath, [main, ...words], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}
