import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { type EnvoyConfig, readEnvoyConfig } from "../support/envoy-config.js";
import { findRepoRoot } from "../support/repo-root.js";
import { forOlderEnvoy } from "./older-envoy.js";

const fileOf = (name: string): string => join(findRepoRoot(), "envoy", `${name}.yaml`);

test("the full file loses one line, as grep -v takes it out, and nothing else", () => {
  const lines = readFileSync(fileOf("full"), "utf8").split("\n");
  const kept = lines.filter((line) => !line.includes("refresh_cluster_on_retry"));
  assert.equal(lines.length - kept.length, 1);
  assert.deepEqual(forOlderEnvoy(readEnvoyConfig(fileOf("full"))), parse(kept.join("\n"), { merge: true }));
});

test("the minimal file runs on every version as it is", () => {
  const shipped = readEnvoyConfig(fileOf("minimal"));
  assert.deepEqual(forOlderEnvoy(shipped), shipped);
});

test("every retry policy is found, in lists and at any depth, and the given config stays as it was", () => {
  const route = { retry_policy: { num_retries: 4, refresh_cluster_on_retry: true } };
  const config: EnvoyConfig = { hosts: [{ retry_policy: route.retry_policy, routes: [{ route }] }] };
  const before = structuredClone(config);
  const retryPolicy = { num_retries: 4 };
  assert.deepEqual(forOlderEnvoy(config), {
    hosts: [{ retry_policy: retryPolicy, routes: [{ route: { retry_policy: retryPolicy } }] }],
  });
  assert.deepEqual(config, before);
});
