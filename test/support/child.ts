import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { LogLines } from "./log-lines.js";

const termTimeoutMs = 5_000;
const living = new Set<ChildProcess>();
let exitIsGuarded = false;

export interface ChildSettings {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** A Node program that is told things by `tell`. */
  readonly listens?: boolean;
}

/** A child process that cannot outlive this one, its output captured. */
export class Child {
  readonly log = new LogLines();
  readonly pid: number;
  readonly exited: Promise<string>;
  readonly #name: string;
  readonly #process: ChildProcess;
  #exit: string | undefined;

  constructor(settings: ChildSettings) {
    guardExit();
    this.#name = settings.name;
    const { program, args, cwd } = settings;
    const env = { ...process.env, ...settings.environment };
    const stdio: StdioOptions = ["ignore", "pipe", "pipe", ...(settings.listens ? ["ipc" as const] : [])];
    const child = spawn(program, args, { cwd, env, stdio });
    this.#process = child;
    this.pid = child.pid ?? -1;
    living.add(child);
    if (child.stdout) this.log.read(child.stdout);
    if (child.stderr) this.log.read(child.stderr);
    this.exited = new Promise((resolve) => {
      const end = (how: string): void => {
        living.delete(child);
        this.#exit ??= how;
        resolve(this.#exit);
      };
      child.on("error", (error) => end(error.message));
      child.on("close", (code, signal) => end(signal ?? `exit code ${code}`));
    });
  }

  /** How the process ended; undefined while it runs. */
  get exit(): string | undefined {
    return this.#exit;
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  /** Only to one that `listens`. */
  tell(message: object): void {
    if (this.#process.connected) this.#process.send(message);
  }

  /** Resolves when `probe` gives true; rejects with the log's end when the process ends before that. */
  async whenReady(probe: () => Promise<boolean>, timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (this.#exit === undefined) {
      if (await probe().catch(() => false)) return;
      if (performance.now() > deadline) {
        await this.stop();
        throw new Error(`${this.#name} was not ready within ${timeoutMs} ms:\n${this.log.tail(30)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`${this.#name} ended at its start (${this.#exit}):\n${this.log.tail(30)}`);
  }

  /** Ends the process: SIGTERM, and SIGKILL when that took more than 5 s. Returns how it ended. */
  async stop(): Promise<string> {
    if (this.#exit === undefined) {
      // A stopped process handles SIGTERM only after SIGCONT.
      this.#process.kill("SIGCONT");
      this.#process.kill("SIGTERM");
      const timer = setTimeout(() => this.#process.kill("SIGKILL"), termTimeoutMs);
      await this.exited;
      clearTimeout(timer);
    }
    return await this.exited;
  }
}

function guardExit(): void {
  if (exitIsGuarded) return;
  exitIsGuarded = true;
  const killAll = (): void => {
    for (const child of living) child.kill("SIGKILL");
  };
  process.on("exit", killAll);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      killAll();
      process.kill(process.pid, signal);
    });
  }
}
