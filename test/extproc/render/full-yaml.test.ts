import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { readPolicy } from "../../../extproc/render/policy-file.js";
import { envoyConfig } from "../../../extproc/render/targets/envoy.js";
import { plain } from "../../../extproc/render/yaml/value.js";
import { readEnvoyConfig } from "../../support/envoy-config.js";
import { findRepoRoot } from "../../support/repo-root.js";

// The policy behind envoy/full.yaml. What is rendered of it and the shipped file can't drift apart: their differences are listed.

const POLICY = `
name: full
backends:
  gpu: { url: "http://127.0.0.1:9101", contextWindow: 32768 }
  small: { url: "http://127.0.0.1:9102", contextWindow: 8192, model: qwen3-4b, maxOutputTokens: 1024, degradedMaxOutputTokens: 512 }
  public: { url: "http://127.0.0.1:9103", contextWindow: 128000, host: api.example.com, path: /v1/chat/completions, model: gpt-4o-mini, maxOutputTokens: 1024, keyFile: envoy/secrets/public-key.yaml }
chains: { chat: { models: [qwen3-32b], tiers: [gpu, small, public], limits: true, exhausted: { action: cached } } }
`;

/** The shipped file has a bulkhead for a class of its own. The stop cluster's only host may have any priority. */
const MEANT = [
  "clusters.gpu.circuit_breakers.thresholds.0.max_requests",
  "clusters.small.circuit_breakers.thresholds.0.max_requests",
  "clusters.public.circuit_breakers.thresholds.0.max_requests",
  "clusters.llm.breaker.stop.load_assignment.endpoints.0.priority",
];

type Tree = { readonly [key: string]: unknown };

/** Lists by their items' names, so that a difference has a place that tells something. */
function byName(value: unknown): unknown {
  if (Array.isArray(value)) {
    return Object.fromEntries(
      value.map((item, at) => [(item as Tree | null)?.name ?? String(at), byName(item)]),
    );
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, byName(item)]));
}

/** Places where both have something, and not the same; and what only the first has. */
function differences(one: unknown, other: unknown, place: string): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null;
  if (!isTree(one) || !isTree(other)) return [place];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) => {
    return differences(one[key], other[key], place === "" ? key : `${place}.${key}`);
  });
}

const rendered = plain(
  envoyConfig(readPolicy(POLICY, "policy.yaml"), { wasmFolder: "build", canChangeCluster: true }),
) as { static_resources: { clusters: unknown; listeners: unknown } };
const shipped = readEnvoyConfig(join(findRepoRoot(), "envoy/full.yaml")) as unknown as typeof rendered;

test("clusters are those of full.yaml, filters, limits, sinks and all", () => {
  const found = differences(
    byName(rendered.static_resources.clusters),
    byName(shipped.static_resources.clusters),
    "clusters",
  );
  assert.deepEqual(found, MEANT);
});
