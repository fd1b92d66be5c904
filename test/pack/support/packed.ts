import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { loadGetEnvoy } from "../../support/get-envoy.js";
import { findRepoRoot } from "../../support/repo-root.js";

const run = promisify(execFile);
const LIMIT_MS = 300_000;
const MAX_OUTPUT_BYTES = 1 << 24;

/** The package as somebody has it who installed it in an empty folder. */
export interface Packed {
  /** The folder that it was installed in. */
  readonly folder: string;
  /** The package's own, below `folder`. */
  readonly root: string;
  /** What `npx llm-breaker` runs there. */
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
  /** Paths within the package, by npm's word. */
  readonly files: readonly string[];
  /** Files in the package's folder that are none of it. */
  strangers(): string[];
}

interface PackReport {
  readonly filename: string;
  readonly integrity: string;
  readonly version: string;
  readonly files: readonly { readonly path: string }[];
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string>>;
}

/** Packs, and installs the tarball, once for all that is packed alike. Envoy is there already, where the package looks for it. */
export async function packAndInstall(): Promise<Packed> {
  const repoRoot = findRepoRoot();
  const top = join(repoRoot, "build", "packed");
  mkdirSync(top, { recursive: true });
  const report = await pack(repoRoot, top);
  const place = join(top, createHash("sha256").update(report.integrity).digest("hex").slice(0, 16));
  const folder = join(place, "empty folder");
  const cache = join(place, "cache");
  if (!existsSync(join(place, "done"))) {
    for (const name of readdirSync(top))
      if (name !== report.filename) rmSync(join(top, name), { recursive: true });
    await install(repoRoot, join(top, report.filename), folder, report);
    await giveEnvoy(cache);
    writeFileSync(join(place, "done"), "");
  }
  const root = join(folder, "node_modules", "llm-breaker");
  const files = report.files.map(({ path }) => path).sort();
  return {
    ...{ folder, root, files },
    env: { ...process.env, XDG_CACHE_HOME: cache },
    command: join(folder, "node_modules", ".bin", "llm-breaker"),
    strangers: () => filesBelow(root).filter((file) => !files.includes(file)),
  };
}

async function install(repoRoot: string, tarball: string, folder: string, report: PackReport): Promise<void> {
  mkdirSync(folder, { recursive: true });
  copyFileSync(tarball, join(folder, report.filename));
  writeProject(repoRoot, folder, report);
  await npm(folder, "ci", "--omit=dev", "--prefer-offline", "--loglevel=error");
}

async function giveEnvoy(cache: string): Promise<void> {
  const { cacheFolder, envoyBinary } = await loadGetEnvoy();
  await envoyBinary();
  mkdirSync(join(cache, "llm-breaker"), { recursive: true });
  symlinkSync(join(cacheFolder(), "envoy"), join(cache, "llm-breaker", "envoy"));
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

async function pack(repoRoot: string, folder: string): Promise<PackReport> {
  const script = join(repoRoot, "scripts", "pack.mjs");
  const words = [script, "--json", "--pack-destination", folder];
  const settings = { cwd: repoRoot, env: settingsFree(), timeout: LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES };
  const { stdout } = await run(process.execPath, words, settings);
  const [report] = JSON.parse(stdout) as [PackReport];
  return report;
}

/** With the versions that our own lock has, so that no registry is asked which there are: whoever ran `npm ci` has them cached. */
function writeProject(repoRoot: string, folder: string, { filename, integrity, version }: PackReport): void {
  const lock = JSON.parse(readFileSync(join(repoRoot, "package-lock.json"), "utf8"));
  const manifest = JSON.parse(readFileSync(join(repoRoot, "package.json"), "utf8")) as Manifest;
  const { dependencies, optionalDependencies, bin, overrides } = manifest;
  const resolved = `file:${filename}`;
  const project = {
    name: "somebodys",
    version: "1.0.0",
    dependencies: { "llm-breaker": resolved },
    overrides,
  };
  const { "": _, ...packages } = lock.packages as Record<string, object>;
  const ours = { version, resolved, integrity, bin, dependencies, optionalDependencies };
  lock.name = project.name;
  lock.version = project.version;
  lock.packages = { "": project, ...packages, "node_modules/llm-breaker": ours };
  writeFileSync(join(folder, "package.json"), JSON.stringify(project));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
}

/** The npm that runs the tests, if one does, would take our own settings from here. */
function settingsFree(): NodeJS.ProcessEnv {
  const isSetting = (name: string): boolean => /^npm_(?!config_(cache|registry)$|execpath$)/i.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isSetting(name)));
}

async function npm(folder: string, ...words: string[]): Promise<string> {
  const settings = {
    cwd: folder,
    env: settingsFree(),
    timeout: LIMIT_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
  };
  // The npm that runs this: on its PATH comes one that a package brings along, years old.
  const running = process.env.npm_execpath ?? "";
  const isNpm = running.endsWith("npm-cli.js");
  const { stdout } = isNpm
    ? await run(process.execPath, [running, ...words], settings)
    : await run("npm", words, settings);
  return stdout;
}
