import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { loadGetEnvoy } from "../../support/get-envoy.js";
import { findRepoRoot } from "../../support/repo-root.js";
import { waitFor } from "../../support/wait-for.js";

/** What documents only read. */
const SHARED = ["build", "node_modules", "package.json", "extproc", "proto", "scripts", "demo"];
const readyLimitMs = 20_000;

/** Whatever a document starts in the background, by the ports that tell that it is ready. */
const SERVERS: readonly (readonly [command: RegExp, ports: readonly number[]])[] = [
  [/demo\/fleet\/main\.js/, [9101, 9102, 9103, 9110]],
  [/npm start/, [9002, 9003, 9004]],
  [/\benvoy -c/, [9901, 10000]],
];

export interface Place {
  readonly folder: string;
  /** All of it. */
  readonly environment: NodeJS.ProcessEnv;
  remove(): void;
}

/** A clone as a reader has it after `npm run demo`: what documents write there is gone with it. */
export async function preparePlace(): Promise<Place> {
  const root = findRepoRoot();
  const folder = mkdtempSync(join(tmpdir(), "llm-breaker-docs-"));
  for (const name of SHARED) symlinkSync(join(root, name), join(folder, name));
  // Where a reader finds it, wherever it is here.
  const { defaultEnvoyVersion, envoyBinary } = await loadGetEnvoy();
  const envoyFolder = join(folder, ".cache", "envoy", defaultEnvoyVersion);
  mkdirSync(envoyFolder, { recursive: true });
  symlinkSync(await envoyBinary(), join(envoyFolder, "envoy"));
  cpSync(join(root, "envoy"), join(folder, "envoy"), { recursive: true });
  const remove = () => rmSync(folder, { recursive: true });
  return { folder, environment: { ...readersEnvironment(), PATH: `${quickNpx()}:${readersPath()}` }, remove };

  /** npx takes seconds to find what is here; that it does find it is test/pack's matter. */
  function quickNpx(): string {
    const bin = mkdtempSync(join(folder, ".bin-"));
    const main = join(root, "build", "js", "extproc", "cli", "main.js");
    const lines = ["#!/bin/sh", '[ "$1" = llm-breaker ] || exit 9', "shift", `exec node ${main} "$@"`, ""];
    writeFileSync(join(bin, "npx"), lines.join("\n"));
    chmodSync(join(bin, "npx"), 0o755);
    return bin;
  }
}

/**
 * `npm test` hands its own settings down, and puts packages' programs before the reader's: one of them is another, old npm,
 * which takes `ignore-scripts` for a reason to do nothing at `npm start`.
 */
function readersEnvironment(): NodeJS.ProcessEnv {
  const isNpms = (name: string): boolean => /^(npm_|INIT_CWD$)/i.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isNpms(name)));
}

function readersPath(): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.filter((folder) => !folder.includes("node_modules")).join(delimiter);
}

/** Waits until what the command has started in the background can be asked: a reader would have seen its log. */
export async function whenStarted(command: string): Promise<void> {
  const [, ports] = SERVERS.find(([pattern]) => pattern.test(command)) ?? [];
  if (ports === undefined) throw new Error(`which ports tell that this is ready?\n${command}`);
  for (const port of ports) await waitFor(() => answers(port), readyLimitMs, `port ${port} of ${command}`);
  // With a service, it knows the gateway a second later.
  if (ports.includes(10000) && (await answers(9004))) {
    await waitFor(knowsBackends, readyLimitMs, "the service to know the gateway");
  }
}

async function knowsBackends(): Promise<boolean> {
  const answer = await fetch("http://127.0.0.1:9004/v1/backends");
  return ((await answer.json()) as { backends: unknown[] }).backends.length > 0;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
