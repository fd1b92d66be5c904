// Counts a process's instructions by valgrind: start-up runs uncounted, and each count is of what happened since the last one.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "../../test/support/wait-for.js";

const dumpTimeoutMs = 10_000;

export class Callgrind {
  readonly #folder = mkdtempSync(join(tmpdir(), "llm-breaker-callgrind-"));
  #counts = 0;

  /** Why nothing can be counted here, or undefined. */
  static whyNot(): string | undefined {
    try {
      execFileSync("valgrind", ["--version"], { stdio: "ignore" });
      return undefined;
    } catch {
      return "no valgrind here (apt-get install valgrind)";
    }
  }

  /** What a program is run under. V8 writes code as it goes: valgrind is told to look for it. */
  get command(): readonly string[] {
    const out = `--callgrind-out-file=${join(this.#folder, "count")}`;
    return ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--smc-check=all-non-file", out];
  }

  start(pid: number): void {
    control("--instr=on", pid);
  }

  /** What happens from now on is not counted, and quicker. */
  pause(pid: number): void {
    control("--instr=off", pid);
  }

  reset(pid: number): void {
    control("--zero", pid);
  }

  /** Instructions of all threads since {@link reset}; the kernel's are not among them. */
  async read(pid: number): Promise<number> {
    control("--dump", pid);
    const file = join(this.#folder, `count.${++this.#counts}`);
    const total = (): string | undefined =>
      existsSync(file) ? /^totals: *(\d*)$/m.exec(readFileSync(file, "latin1"))?.[1] : undefined;
    // It is written when the process next runs, and not at once.
    return Number(await waitFor(total, dumpTimeoutMs, "callgrind's count"));
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function control(order: string, pid: number): void {
  execFileSync("callgrind_control", [order, String(pid)], { stdio: "ignore" });
}
