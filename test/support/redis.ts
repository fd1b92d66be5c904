import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Child } from "./child.js";
import { freePort } from "./ports.js";
import { redisBinary } from "./redis-binary.js";

const readyTimeoutMs = 10_000;

/** A Redis of the test's own on 127.0.0.1, which keeps nothing when it ends. */
export class RunningRedis {
  readonly url: string;

  private constructor(
    readonly port: number,
    readonly child: Child,
    private readonly workFolder: string,
  ) {
    this.url = `redis://127.0.0.1:${port}`;
  }

  static async start(port?: number): Promise<RunningRedis> {
    const { program, libraries } = redisBinary();
    const ownPort = port ?? (await freePort());
    const workFolder = mkdtempSync(join(tmpdir(), "llm-breaker-redis-"));
    const args = ["--bind", "127.0.0.1", "--port", String(ownPort), "--save", "", "--dir", workFolder];
    const child = new Child({
      name: "Redis",
      program,
      args,
      cwd: workFolder,
      environment: libraries ? { LD_LIBRARY_PATH: libraries } : {},
    });
    await child.whenReady(() => answers(ownPort), readyTimeoutMs);
    return new RunningRedis(ownPort, child, workFolder);
  }

  /** SIGSTOP and SIGCONT make it one that hangs and comes back. */
  signal(name: NodeJS.Signals): void {
    this.child.signal(name);
  }

  async stop(): Promise<void> {
    await this.child.stop();
    rmSync(this.workFolder, { recursive: true, force: true });
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    socket.once("data", (data) => {
      socket.destroy();
      resolve(data.toString().startsWith("+PONG"));
    });
    socket.once("error", () => resolve(false));
  });
}
