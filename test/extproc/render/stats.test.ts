import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { statsConfig } from "../../../extproc/render/parts/stats.js";
import { plain } from "../../../extproc/render/yaml/value.js";
import { readEnvoyConfig } from "../../support/envoy-config.js";
import { findRepoRoot } from "../../support/repo-root.js";

for (const file of ["full.yaml", "minimal.yaml"]) {
  test(`what is rendered names metrics as ${file} does`, () => {
    const { stats_config } = readEnvoyConfig(join(findRepoRoot(), "envoy", file));
    assert.deepEqual(plain(statsConfig()), stats_config);
  });
}
