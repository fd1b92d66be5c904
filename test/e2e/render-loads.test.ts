import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { rootCertificates } from "node:tls";
import { promisify } from "node:util";
import { checkFiles } from "../../extproc/check/check.js";
import { readPolicy } from "../../extproc/render/policy-file.js";
import { writeEnvoy } from "../../extproc/render/targets/envoy.js";
import { envoyMeans } from "../../extproc/render/targets/envoy-options.js";
import { loadGetEnvoy } from "../support/get-envoy.js";
import { findRepoRoot } from "../support/repo-root.js";

// Whatever a policy asks for, a real Envoy takes what is rendered of it, and `check` finds nothing.

const repo = findRepoRoot();
const folder = mkdtempSync(join(tmpdir(), "llm-breaker-render-"));
const ca = join(folder, "ca.pem");
writeFileSync(ca, String(rootCertificates[0]));
after(() => rmSync(folder, { recursive: true }));

const key = join(repo, "envoy/secrets/public-key.yaml");

const POLICIES: Readonly<Record<string, string>> = {
  "one backend whose route names its cluster": `
backends: { gpu: { url: "http://10.0.0.7:8000" } }
chains: { chat: { tiers: [gpu], routing: fixed, maxAttempts: 1, peek: false } }`,
  "tiers without the service": `
backends: { gpu: { url: "http://vllm.llm.svc:8000" }, spare: { url: "http://[::1]:8000", http2: true } }
chains: { chat: { tiers: [gpu, spare] } }`,
  "a public API with TLS, a key and another model": `
name: chat
backends:
  gpu: { url: "http://vllm.llm.svc:8000", contextWindow: 32768 }
  public: { url: "https://api.example.com/v1", model: gpt-4o-mini, keyFile: ${key}, keyPrefix: "Bearer ", caFile: ${ca} }
chains: { chat: { models: [qwen3-32b, "on"], tiers: [gpu, public] } }`,
  "chains by path and by model": `
backends:
  gpu: { url: "http://10.0.0.7:8000" }
  embed: { url: "http://10.0.0.8:8000", maxConcurrentCalls: 8 }
  azure: { url: "https://n.openai.azure.com/openai/deployments/d", query: api-version=2024-10-21, keyFile: ${key}, keyHeader: api-key, caFile: ${ca}, http2: true }
chains:
  chat: { models: ["qwen3-*"], tiers: [gpu, azure] }
  other: { models: [gpt-4o], tiers: [azure] }
  embeddings: { prefix: /v1/embeddings, tiers: [embed], maxAttempts: 2 }
defaultChain: chat`,
  "limits, remembered answers and a service elsewhere": `
service: { host: llm-breaker.llm.svc, grpcPort: 19002 }
backends: { gpu: { url: "http://10.0.0.7:8000", price: { prompt: 1, completion: 2 }, budgetPerDay: 10 } }
chains: { chat: { tiers: [gpu], limits: true, exhausted: { action: cached } } }`,
  "a tier that is cut down while it is weak, and another dialect": `
backends:
  gpu: { url: "http://10.0.0.7:8000", degradedMaxOutputTokens: 512, degradedRemove: [tools], loadMetrics: TEXT }
  claude: { url: "https://api.anthropic.com", dialect: anthropic, model: claude-sonnet-4-5, keyFile: ${key}, keyHeader: x-api-key, caFile: ${ca} }
chains: { chat: { tiers: [gpu, claude], holdLimit: 65536, answerTimeout: 2m } }`,
};

async function load(name: string, version?: string): Promise<void> {
  const file = join(folder, `${name.replaceAll(" ", "-")}-${version ?? "default"}.yaml`);
  const means = envoyMeans(version === undefined ? {} : { "envoy-version": version });
  writeFileSync(file, writeEnvoy(readPolicy(POLICIES[name] ?? "", "policy.yaml"), means));
  const { envoyBinary } = await loadGetEnvoy();
  const envoy = await envoyBinary(
    version === undefined ? process.env : { ...process.env, ENVOY_VERSION: version },
  );
  const loaded = await promisify(execFile)(envoy, ["--mode", "validate", "-l", "error", "-c", file]);
  assert.match(loaded.stdout, /OK/);
  const text = readFileSync(file, "utf8");
  const { findings } = checkFiles([{ name: file, text }], version === undefined ? {} : { envoy: [1, 36] });
  assert.deepEqual(findings, []);
}

for (const name of Object.keys(POLICIES)) test(`Envoy takes ${name}`, () => load(name));

test("Envoy 1.36.4 takes tiers without the service, and is not sent what only 1.37 knows", async () => {
  await load("tiers without the service", "1.36.4");
  await assert.rejects(
    load("a public API with TLS, a key and another model", "1.36.4"),
    /keyPrefix needs Envoy 1\.37/,
  );
});
