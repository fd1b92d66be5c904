import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Child } from "./child.js";
import { send } from "./client.js";
import type { LogLines } from "./log-lines.js";
import { findRepoRoot } from "./repo-root.js";

const readyTimeoutMs = 30_000;

export interface ServiceSettings {
  /** What the service's config file holds. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Where /healthz is asked; the config says where the service listens. */
  readonly httpPort?: number;
  readonly environment?: NodeJS.ProcessEnv;
  /** A program in the service's place, relative to the compiled checkout; it can be told things. */
  readonly program?: string;
}

/** The ext_proc service as a process of its own, healthy. */
export class RunningService {
  readonly httpUrl: string;
  readonly log: LogLines;
  readonly pid: number;
  readonly #child: Child;
  readonly #workFolder: string;

  constructor(child: Child, httpPort: number, workFolder: string) {
    this.#child = child;
    this.#workFolder = workFolder;
    this.pid = child.pid;
    this.log = child.log;
    this.httpUrl = `http://127.0.0.1:${httpPort}`;
  }

  /** How it ended; undefined while it runs. */
  get exit(): string | undefined {
    return this.#child.exit;
  }

  /** SIGSTOP and SIGCONT make it a service that hangs and one that comes back. */
  signal(name: NodeJS.Signals): void {
    this.#child.signal(name);
  }

  /** Only to a program that listens. */
  tell(message: object): void {
    this.#child.tell(message);
  }

  /** Returns how it ended, "exit code 0" after a clean drain. */
  async stop(): Promise<string> {
    const how = await this.#child.stop();
    rmSync(this.#workFolder, { recursive: true, force: true });
    return how;
  }
}

export async function startService(settings: ServiceSettings = {}): Promise<RunningService> {
  const root = findRepoRoot();
  const workFolder = mkdtempSync(join(tmpdir(), "llm-breaker-service-"));
  const environment: NodeJS.ProcessEnv = { ...settings.environment };
  if (settings.config) {
    environment.LLM_BREAKER_CONFIG = join(workFolder, "config.json");
    writeFileSync(environment.LLM_BREAKER_CONFIG, JSON.stringify(settings.config));
  }
  const { program } = settings;
  const args = ["--enable-source-maps", join(root, "build", "js", program ?? "extproc/main.js")];
  const child = new Child({
    name: "the ext_proc service",
    program: process.execPath,
    args,
    cwd: root,
    environment,
    listens: program !== undefined,
  });
  const service = new RunningService(child, settings.httpPort ?? 9003, workFolder);
  try {
    await child.whenReady(
      async () => (await send(`${service.httpUrl}/healthz`)).status === 200,
      readyTimeoutMs,
    );
  } catch (error) {
    await service.stop();
    throw error;
  }
  return service;
}
