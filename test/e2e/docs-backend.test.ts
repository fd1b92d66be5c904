import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { rootCertificates } from "node:tls";
import { promisify } from "node:util";
import { loadGetEnvoy } from "../support/get-envoy.js";
import { findRepoRoot } from "../support/repo-root.js";

const repo = findRepoRoot();
const folder = mkdtempSync(join(tmpdir(), "llm-breaker-docs-"));
after(() => rmSync(folder, { recursive: true }));

const clustersEnd = "  # Ends a request for which no tier is left";

/** The documented cluster that begins with this line, in the place where a reader would put it. */
function withDocumented(firstLine: string): string {
  const docs = readFileSync(join(repo, "docs/configuration.md"), "utf8");
  const blocks = [...docs.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block]) => String(block));
  const cluster = blocks.find((block) => block.startsWith(firstLine));
  assert.ok(cluster, `no block begins with ${firstLine}`);
  const certificates = join(folder, "ca.pem");
  writeFileSync(certificates, String(rootCertificates[0]));
  const full = readFileSync(join(repo, "envoy/full.yaml"), "utf8");
  const [before, rest] = full.split(clustersEnd);
  const whole = `${before}${cluster}\n${clustersEnd}${rest}`;
  // Where the system's certificates lie differs, and the reader's key is a file of his own.
  return whole
    .replace("/etc/ssl/certs/ca-certificates.crt", certificates)
    .replace("secrets/azure-key.yaml", "secrets/public-key.yaml");
}

test("Envoy takes the documented cluster of an Azure deployment", async () => {
  const file = join(folder, "full.yaml");
  writeFileSync(file, withDocumented("  - name: azure\n"));
  const { envoyBinary } = await loadGetEnvoy();
  const envoy = await envoyBinary();
  const { stdout } = await promisify(execFile)(envoy, ["--mode", "validate", "-c", file], { cwd: repo });
  assert.match(stdout, /OK/);
});
