import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { stringify } from "yaml";
import { Child } from "./child.js";
import { send } from "./client.js";
import { adminPort, type EnvoyConfig, onFreePorts, readEnvoyConfig } from "./envoy-config.js";
import { loadGetEnvoy } from "./get-envoy.js";
import type { LogLines } from "./log-lines.js";
import { findRepoRoot } from "./repo-root.js";

const defaultReadyTimeoutMs = 30_000;
/** A tick of the filter, and some more for busy cores. */
const counterDelayMs = 320;

export interface EnvoySettings {
  /** Relative to the checkout. Without `patch` and `ports` Envoy gets this very file. */
  readonly configFile?: string;
  readonly config?: EnvoyConfig;
  readonly concurrency?: number;
  /** Such as "warning" or "info,wasm:debug" (the part after the comma goes to `--component-log-level`). */
  readonly logLevel?: string;
  readonly patch?: (config: EnvoyConfig) => void;
  /** Moves all local ports to free ones; the map gives shipped port → port for those that are known. */
  readonly ports?: Readonly<Record<number, number>>;
  readonly environment?: NodeJS.ProcessEnv;
  /** A program with its arguments, such as a profiler, that runs Envoy. */
  readonly under?: readonly string[];
  readonly readyTimeoutMs?: number;
}

/** An Envoy that is live and takes connections. */
export class RunningEnvoy {
  readonly adminUrl: string;
  readonly log: LogLines;
  readonly pid: number;
  readonly #child: Child;
  readonly #movedPorts: ReadonlyMap<number, number>;
  readonly #workFolder: string | undefined;

  constructor(
    child: Child,
    admin: number,
    movedPorts: ReadonlyMap<number, number>,
    workFolder: string | undefined,
  ) {
    this.#child = child;
    this.#movedPorts = movedPorts;
    this.#workFolder = workFolder;
    this.pid = child.pid;
    this.log = child.log;
    this.adminUrl = `http://127.0.0.1:${admin}`;
  }

  get logLines(): readonly string[] {
    return this.log.all;
  }

  /** How Envoy ended; undefined while it runs. */
  get exit(): string | undefined {
    return this.#child.exit;
  }

  /** Where a port of the shipped file is now. */
  port(shipped: number): number {
    return this.#movedPorts.get(shipped) ?? shipped;
  }

  url(shipped: number, path = ""): string {
    return `http://127.0.0.1:${this.port(shipped)}${path}`;
  }

  waitForLog(pattern: RegExp, timeoutMs = 5_000): Promise<string> {
    return this.log.waitFor(pattern, timeoutMs);
  }

  /** Counters and gauges whose names match Envoy's `filter` (a regular expression). */
  /** Envoy's stats whose name matches. The filter's counters are waited for: it hands them to Envoy by its tick. */
  async stats(filter: string): Promise<Map<string, number>> {
    if (filter.includes("llm_breaker") && !filter.includes("state")) await delay(counterDelayMs);
    const answer = await send(`${this.adminUrl}/stats?filter=${encodeURIComponent(filter)}`);
    const values = new Map<string, number>();
    for (const line of answer.text.split("\n")) {
      const at = line.lastIndexOf(": ");
      const value = Number(line.slice(at + 2));
      if (at > 0 && Number.isFinite(value)) values.set(line.slice(0, at), value);
    }
    return values;
  }

  async stat(name: string): Promise<number> {
    const exact = `^${name.replaceAll(".", "\\.")}$`;
    return (await this.stats(exact)).get(name) ?? 0;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.signal(name);
  }

  async stop(): Promise<void> {
    await this.#child.stop();
    if (this.#workFolder) rmSync(this.#workFolder, { recursive: true, force: true });
  }
}

/** Starts Envoy in the checkout's folder (the shipped files name the module relative to it) and waits until it is live. */
export async function startEnvoy(settings: EnvoySettings): Promise<RunningEnvoy> {
  const root = findRepoRoot();
  const shippedFile = settings.configFile && join(root, settings.configFile);
  const config = settings.config ?? (shippedFile ? readEnvoyConfig(shippedFile) : undefined);
  if (!config) throw new Error("startEnvoy needs a configFile or a config");
  settings.patch?.(config);
  const moved = settings.ports ? await onFreePorts(config, settings.ports) : new Map<number, number>();
  const admin = adminPort(config);
  if (admin === undefined) throw new Error("the Envoy config needs an admin address");

  const asShipped = shippedFile && !settings.config && !settings.patch && !settings.ports;
  const workFolder = asShipped ? undefined : mkdtempSync(join(tmpdir(), "llm-breaker-test-"));
  const configFile = workFolder ? join(workFolder, "envoy.yaml") : String(shippedFile);
  if (workFolder) writeFileSync(configFile, stringify(config, { aliasDuplicateObjects: false }));

  const [level = "warning", components] = splitOnce(settings.logLevel ?? "warning");
  const args = ["-c", configFile, "--concurrency", String(settings.concurrency ?? 2), "--log-level", level];
  if (components) args.push("--component-log-level", components);
  // Without hot restart there is no shared memory, hence no base id to clash with another Envoy.
  args.push("--disable-hot-restart");
  const [program = "", ...words] = [
    ...(settings.under ?? []),
    await (await loadGetEnvoy()).envoyBinary(),
    ...args,
  ];
  const { environment } = settings;
  const child = new Child({
    name: "Envoy",
    program,
    args: words,
    cwd: root,
    ...(environment && { environment }),
  });
  const envoy = new RunningEnvoy(child, admin, moved, workFolder);
  try {
    await child.whenReady(
      async () => (await send(`${envoy.adminUrl}/ready`)).status === 200,
      settings.readyTimeoutMs ?? defaultReadyTimeoutMs,
    );
  } catch (error) {
    await envoy.stop();
    throw error;
  }
  return envoy;
}

function splitOnce(text: string): [string, string | undefined] {
  const at = text.indexOf(",");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
