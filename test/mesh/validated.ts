import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { EnvoyConfig } from "../support/envoy-config.js";
import { loadGetEnvoy } from "../support/get-envoy.js";
import { findRepoRoot } from "../support/repo-root.js";

/** What Envoy `version` says against the configuration; empty when it would run it. Keys are those of the demo. */
export async function envoyFaults(config: EnvoyConfig, version?: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "llm-breaker-validate-"));
  try {
    const file = join(folder, "envoy.yaml");
    writeFileSync(file, stringify(withDemoKeys(config), { aliasDuplicateObjects: false }));
    const environment = version === undefined ? process.env : { ...process.env, ENVOY_VERSION: version };
    const program = await (await loadGetEnvoy()).envoyBinary(environment);
    const ran = spawnSync(program, ["--mode", "validate", "-l", "error", "-c", file], {
      cwd: findRepoRoot(),
      encoding: "utf8",
    });
    return ran.status === 0 ? "" : `${ran.stdout}${ran.stderr}`.slice(0, 2000);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function withDemoKeys(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withDemoKeys);
  if (typeof node !== "object" || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      if (key === "path_config_source") return [key, { path: "envoy/secrets/public-key.yaml" }];
      return [key, withDemoKeys(value)];
    }),
  );
}
