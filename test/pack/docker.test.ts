import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findRepoRoot } from "../support/repo-root.js";
import { copiesOf } from "./support/dockerfile.js";

// Images are built where an engine is; here is what would break them there: files that are not what they were.

const root = findRepoRoot();

test("what images copy is not kept from them", () => {
  const ignored = readFileSync(join(root, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const context = [...copiesOf("service.Dockerfile"), ...copiesOf("wasm.Dockerfile")].flatMap(
    ({ from, sources }) => (from === undefined ? sources : []),
  );
  const kept = context.filter((source) =>
    ignored.some((path) => source === path || source.startsWith(`${path}/`)),
  );
  assert.deepEqual(kept, []);
});

test("the service's image runs the service as nobody special, without packages that only we need", () => {
  const text = readFileSync(join(root, "docker", "service.Dockerfile"), "utf8");
  const last = text.slice(text.lastIndexOf("\nFROM "));
  assert.match(last, /^USER node$/m);
  assert.match(last, /^COPY --from=packages \/app\/node_modules node_modules$/m);
  assert.match(text, /AS packages[\s\S]*RUN npm ci --omit=dev/);
  assert.match(last, /^HEALTHCHECK .*\n.*\/healthz/m);
});
