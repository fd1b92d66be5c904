import { execFileSync } from "node:child_process";
import { cpus, release } from "node:os";
import { loadGetEnvoy } from "../test/support/get-envoy.js";

/** What the figures were measured on. */
export async function machine(): Promise<Record<string, string | number>> {
  const processors = cpus();
  const envoy = await (await loadGetEnvoy()).envoyBinary();
  const version = execFileSync(envoy, ["--version"], { encoding: "utf8" });
  return {
    cpu: processors[0]?.model ?? "unknown",
    cores: processors.length,
    kernel: release(),
    node: process.version,
    envoy: /\d+\.\d+\.\d+/.exec(version)?.[0] ?? "unknown",
  };
}
