import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../../extproc/cli/main.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** `llm-breaker` with these words, and no variables but PATH and these. */
export function start(
  words: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): ChildProcessWithoutNullStreams {
  const env = { PATH: process.env.PATH, ...environment };
  return spawn(process.execPath, [MAIN, ...words], { env });
}

/** The same, until it ends. */
export async function run(
  words: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  input = "",
): Promise<Ended> {
  const child = start(words, environment);
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, out, err };
}
