import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../support/repo-root.js";

/** Names the position whose VM is to trap. Only the debug build knows it. */
export const TRAP_HEADER = "x-debug-trap";

/** The filter's debug build, made when its sources have changed since it was made last. Its path. */
export async function trapModule(): Promise<string> {
  const root = findRepoRoot();
  const file = join(root, "build", "debug", "llm-breaker-trap.wasm");
  const stampFile = `${file}.stamp`;
  const stamp = stampOf(root);
  const isBuilt = existsSync(file) && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
  if (isBuilt) return file;
  await compile(root);
  writeFileSync(stampFile, stamp);
  return file;
}

/** The modules of a folder that can be told to trap. Texts of a module are UTF-16. */
export function trappingModules(folder: string): string[] {
  const text = Buffer.from(TRAP_HEADER, "utf16le");
  const modules = readdirSync(folder).filter((name) => name.endsWith(".wasm"));
  return modules.filter((name) => readFileSync(join(folder, name)).includes(text));
}

function stampOf(root: string): string {
  const hash = createHash("sha256").update(readFileSync(join(root, "asconfig.json")));
  for (const folder of ["filter", join("test", "trap")]) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).sort()) {
      if (name.endsWith(".ts")) hash.update(`${name}\0`).update(readFileSync(join(root, folder, name)));
    }
  }
  return hash.digest("hex");
}

function compile(root: string): Promise<void> {
  const compiler = join(root, "node_modules", "assemblyscript", "bin", "asc.js");
  const args = [compiler, join("test", "trap", "index.ts"), "--target", "trap"];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (text: Buffer) => {
    said += text.toString("utf8");
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the debug build of the filter does not compile:\n${said.slice(0, 2_000)}`));
    });
  });
}
