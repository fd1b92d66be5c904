import { spawn } from "node:child_process";

/**
 * Runs a Node program and collects what it writes. A program that takes too long is ended with all that it started.
 * @param {string[]} args
 * @param {{ cwd: string, limitMs: number }} settings
 * @returns {Promise<{ exitCode: number, output: string, timedOut: boolean }>}
 */
export function runNode(args, { cwd, limitMs }) {
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: "1" };
    // A group of its own, so that a hanging test's Envoy ends with it.
    const child = spawn(process.execPath, args, {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    /** @type {Buffer[]} */
    const chunks = [];
    let timedOut = false;
    const endGroup = (/** @type {NodeJS.Signals} */ signal) => {
      try {
        process.kill(-Number(child.pid), signal);
      } catch {
        // It has ended by itself.
      }
    };
    const onSignal = () => {
      endGroup("SIGTERM");
      process.exitCode = 1;
    };
    process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup("SIGTERM");
      setTimeout(() => endGroup("SIGKILL"), 10_000).unref();
    }, limitMs);
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.stderr.on("data", (chunk) => chunks.push(chunk));
    child.on("error", (error) => chunks.push(Buffer.from(error.message)));
    child.on("close", (code) => {
      clearTimeout(timer);
      process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
      resolve({ exitCode: code ?? 1, output: Buffer.concat(chunks).toString("utf8"), timedOut });
    });
  });
}
