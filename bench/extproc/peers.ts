import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Child } from "../../test/support/child.js";
import { freePort } from "../../test/support/ports.js";
import { findRepoRoot } from "../../test/support/repo-root.js";
import { canConnect } from "../can-connect.js";

const readyTimeoutMs = 30_000;

/** An ext_proc server in a process of its own, listening. */
export interface Peer {
  readonly pid: number;
  readonly port: number;
  readonly stop: () => Promise<string>;
}

export async function startService(): Promise<Peer> {
  const script = fileURLToPath(new URL("service-main.js", import.meta.url));
  return await start("the service", process.execPath, (address) => ["--enable-source-maps", script, address]);
}

/** The do-nothing server in Go; undefined where there is no Go, or its modules can't be had. */
export async function startGoPeer(say: (line: string) => void): Promise<Peer | undefined> {
  const folder = join(findRepoRoot(), ".cache", "peers");
  const program = join(folder, "go-extproc");
  try {
    mkdirSync(folder, { recursive: true });
    execFileSync("go", ["build", "-o", program, "."], {
      cwd: join(findRepoRoot(), "bench", "peers", "go-extproc"),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    const why = (error as { stderr?: string }).stderr || (error as Error).message;
    say(`no Go peer: ${why.trim().split("\n").at(-1)}`);
    return undefined;
  }
  return await start("the Go peer", program, (address) => ["-listen", address]);
}

async function start(
  name: string,
  program: string,
  argumentsFor: (address: string) => string[],
): Promise<Peer> {
  const port = await freePort();
  const child = new Child({ name, program, args: argumentsFor(`127.0.0.1:${port}`), cwd: findRepoRoot() });
  await child.whenReady(() => canConnect(port), readyTimeoutMs);
  return { pid: child.pid, port, stop: () => child.stop() };
}
