import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CliError } from "../../../extproc/cli-error.js";
import { render } from "../../../extproc/render/command.js";

const folder = mkdtempSync(join(tmpdir(), "llm-breaker-render-"));
const policy = join(folder, "policy.yaml");
writeFileSync(policy, "backends: { gpu: }\nchains: { chat: { tiers: [gpu] } }\n");

const TYPE = "type.googleapis.com/envoy.extensions.filters";
const THEIRS = `static_resources:
  listeners:
  - name: in
    filter_chains:
    - filters:
      - name: hcm
        typed_config:
          "@type": ${TYPE}.network.http_connection_manager.v3.HttpConnectionManager
          http_filters:
          - { name: envoy.filters.http.router, typed_config: { "@type": ${TYPE}.http.router.v3.Router } }
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - { name: chat, match: { prefix: /v1/chat }, route: { cluster: gpu } }
              - { name: code, match: { prefix: /v1/code }, route: { cluster: gpu } }
              - { name: rest, match: { prefix: / }, route: { cluster: gpu } }
  clusters:
  - { name: gpu, type: STATIC, load_assignment: { cluster_name: gpu } }
`;

test("--route names one route or several, though other targets have an option of that name", async () => {
  const file = join(folder, "envoy.yaml");
  for (const routes of [["chat"], ["code", "rest"]]) {
    writeFileSync(file, THEIRS);
    const words = routes.flatMap((name) => ["--route", name]);
    assert.equal(await render([policy, "--into", file, ...words]), 0);
    assert.equal(readFileSync(file, "utf8").match(/cluster_specifier_plugin: /g)?.length, routes.length);
  }
});

test("an option of another target is refused", async () => {
  const refused = (...words: string[]) =>
    assert.rejects(render([policy, ...words]), (error) => error instanceof CliError && error.exitCode === 2);
  await refused("--target", "istio", "--dry-run");
  await refused("--target", "envoy", "--namespace", "llm");
  await refused("--target", "kubernetes", "--into", policy);
  await refused("--target");
});
