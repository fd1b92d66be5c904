import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

/** A process that the story started. */
export interface Child {
  readonly pid: number;
  /** Resolves when the process has ended, with how. */
  readonly ended: Promise<string>;
  readonly running: boolean;
  /** The last line it wrote, "" for none. */
  readonly lastLine: string;
  kill(signal: NodeJS.Signals): void;
  /** SIGTERM, and SIGKILL after `graceMs`; resolves when it is gone. */
  stop(graceMs?: number): Promise<void>;
}

export interface ChildSettings {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Both outputs go here, whole. */
  readonly logFile: string;
  readonly onLine?: (line: string) => void;
}

const running = new Set<ChildProcess>();
// The last resort: whatever ends this process, none of its children outlives it.
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A child could not be started, or ended when it was still needed. */
export class ChildError extends Error {
  override name = "ChildError";
}

/** @throws ChildError when the command cannot be run */
export async function startChild(settings: ChildSettings): Promise<Child> {
  mkdirSync(dirname(settings.logFile), { recursive: true });
  const log = createWriteStream(settings.logFile);
  const child = spawn(settings.command, settings.args, {
    cwd: settings.cwd,
    env: settings.env ?? process.env,
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that Ctrl-C in the terminal reaches only us and children are stopped in order.
    detached: true,
  });
  let lastLine = "";
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on("line", (line) => {
      log.write(`${line}\n`);
      if (line.trim() !== "") lastLine = line.trim();
      settings.onLine?.(line);
    });
  }
  const ended = new Promise<string>((resolve) => {
    child.once("close", (code, signal) => {
      running.delete(child);
      log.end();
      resolve(signal === null ? `exit code ${code}` : signal);
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => {
      reject(new ChildError(`${settings.name} could not be started: ${cause.message}`, { cause }));
    });
  });
  running.add(child);
  return {
    pid: child.pid ?? 0,
    ended,
    get running() {
      return running.has(child);
    },
    get lastLine() {
      return lastLine;
    },
    kill: (signal) => void child.kill(signal),
    async stop(graceMs = 5000) {
      if (!running.has(child)) return;
      child.kill("SIGTERM");
      const force = setTimeout(() => child.kill("SIGKILL"), graceMs);
      await ended;
      clearTimeout(force);
    },
  };
}

/**
 * Asks again and again until `ready` answers true.
 * @throws ChildError when the child ends first, or after `limitMs`
 */
export async function waitUntilReady(
  child: Child,
  name: string,
  logFile: string,
  ready: () => Promise<boolean>,
  limitMs = 30_000,
): Promise<void> {
  let ending = "";
  void child.ended.then((how) => {
    ending = how;
  });
  const giveUpMs = performance.now() + limitMs;
  while (!(await ready().catch(() => false))) {
    if (ending !== "") {
      throw new ChildError(`${name} ended at start (${ending}): ${child.lastLine}\nIts log: ${logFile}`);
    }
    if (performance.now() > giveUpMs) {
      throw new ChildError(`${name} was not ready after ${limitMs / 1000} s. Its log: ${logFile}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
