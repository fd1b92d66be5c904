import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../../extproc/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "llm-breaker-"));
after(() => rmSync(folder, { recursive: true }));

/** YAML: ports that are free, every log line. */
export const FREE_PORTS =
  'listen: {grpc: "127.0.0.1:0", http: "127.0.0.1:0", admin: "127.0.0.1:0"}\nlog: {level: debug}\n';

interface LogLine {
  msg: string;
  level: string;
  grpcAddress?: string;
  httpAddress?: string;
  reason?: string;
  changed?: string[];
}

/** The service as a process of its own, with what it prints. */
export class ServiceProcess {
  readonly child: ChildProcess;
  readonly file = join(folder, `${Math.random()}.yaml`);
  readonly lines: string[] = [];
  stderr = "";
  private readonly waiters: { message: string; resolve: (line: LogLine) => void }[] = [];

  constructor(yaml: string) {
    writeFileSync(this.file, yaml);
    this.child = spawn(process.execPath, [MAIN], { env: { ...process.env, LLM_BREAKER_CONFIG: this.file } });
    this.child.stderr?.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    if (this.child.stdout) createInterface(this.child.stdout).on("line", (text) => this.onLine(text));
  }

  /** The first log line with this message, of those that come after the first `skip`. */
  line(message: string, skip = 0): Promise<LogLine> {
    const lines = this.lines.slice(skip).map((text) => JSON.parse(text) as LogLine);
    const seen = lines.find(({ msg }) => msg === message);
    return seen ? Promise.resolve(seen) : new Promise((resolve) => this.waiters.push({ message, resolve }));
  }

  async exit(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, "close");
    return this.child.exitCode;
  }

  private onLine(text: string): void {
    this.lines.push(text);
    const line = JSON.parse(text) as LogLine;
    for (const waiter of this.waiters) if (waiter.message === line.msg) waiter.resolve(line);
  }
}
