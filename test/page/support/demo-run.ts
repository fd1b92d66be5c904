import { type ChildProcess, spawn } from "node:child_process";

/** A demo under way. */
export interface DemoRun {
  /** The live page's address, as the demo prints it. */
  readonly pageUrl: Promise<string>;
  /** Its exit code and all that it wrote. */
  readonly ended: Promise<{ exitCode: number; output: string }>;
  stop(): Promise<void>;
}

export interface DemoCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Runs the demo as a user does. */
export function startDemo({ command, args, cwd, env }: DemoCommand): DemoRun {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const ended = new Promise<{ exitCode: number; output: string }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ exitCode: code ?? 1, output }));
  });
  const pageUrl = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const [, url] = /live page +(http:\S+\/)\n/.exec(output) ?? [];
        if (url !== undefined) resolve(url);
      });
    }
    const lost = () => reject(new Error(`the demo told no live page:\n${output.slice(-4000)}`));
    ended.then(lost, lost);
  });
  // Whoever waits for the end only hears of it there.
  pageUrl.catch(() => {});
  return { pageUrl, ended, stop: () => stopChild(child, ended) };
}

async function stopChild(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode === null) child.kill("SIGTERM");
  await ended.catch(() => {});
}
