import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findRepoRoot } from "../../test/support/repo-root.js";

const rustTarget = "wasm32-wasip1";

/** The modules that do the record's work and nothing else. */
export interface WasmPeers {
  readonly assemblyScript: string;
  /** Absent where there is no Rust. */
  readonly rust?: { readonly sdk: string; readonly bare: string };
  /** Why there is no Rust, in a line. */
  readonly whyNoRust?: string;
}

/** Builds them where they have changed; `wantsRust: false` leaves Rust out even where it could be built. */
export function buildWasmPeers(say: (line: string) => void, wantsRust = true): WasmPeers {
  const assemblyScript = buildAssemblyScript("index.ts", "release", "as-filter.wasm");
  if (!wantsRust) return { assemblyScript, whyNoRust: "it was not asked for" };
  try {
    return { assemblyScript, rust: buildRust() };
  } catch (error) {
    const whyNoRust = (error as Error).message;
    say(`no filter in Rust: ${whyNoRust}`);
    return { assemblyScript, whyNoRust };
  }
}

/** A module that has the callbacks of gate and meter, and does nothing in them. */
export function buildNoop(): string {
  return buildAssemblyScript("noop.ts", "noop", "noop.wasm");
}

/** A module that refuses each request, and does nothing else. */
export function buildRefuse(): string {
  return buildAssemblyScript("refuse.ts", "refuse", "refuse.wasm");
}

function buildAssemblyScript(entry: string, target: string, module: string): string {
  const root = findRepoRoot();
  const folder = join("bench", "peers", "as-filter");
  const compiler = join("node_modules", "assemblyscript", "bin", "asc.js");
  const config = ["--config", join(folder, "asconfig.json"), "--target", target];
  run(process.execPath, [compiler, join(folder, entry), ...config], root);
  return join(root, "build", "bench", module);
}

function buildRust(): { sdk: string; bare: string } {
  requireTarget();
  const root = findRepoRoot();
  const target = join(root, ".cache", "peers", "rust-filter");
  const words = ["build", "--release", "--locked", "--target", rustTarget, "--target-dir", target];
  run("cargo", words, join(root, "bench", "peers", "rust-filter"));
  const module = (name: string): string => join(target, rustTarget, "release", `${name}.wasm`);
  return { sdk: module("sdk"), bare: module("bare") };
}

function requireTarget(): void {
  const library = run("rustc", ["--print", "target-libdir", "--target", rustTarget], findRepoRoot()).trim();
  if (!existsSync(library)) throw new Error(`no target ${rustTarget}: rustup target add ${rustTarget}`);
}

function run(program: string, words: readonly string[], cwd: string): string {
  try {
    return execFileSync(program, words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === "ENOENT") throw new Error(`no ${program} here`);
    // The compilers print whole source lines, which may be long.
    const lines = (stderr || (error as Error).message).trim().split("\n");
    throw new Error(`${program} failed: ${lines.slice(-3).join(" ").slice(0, 300)}`);
  }
}
