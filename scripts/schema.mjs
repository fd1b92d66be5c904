// Writes what follows from the service's settings, the policy's schema, the control API's routes, the rules of `check` and what
// `render` writes for clusters: `npm run -s schema`.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const repoRoot = join(dirname(fileURLToPath(import.meta.url)), "..");
const built = join(repoRoot, "build", "js", "extproc");
const { configFiles } = await import(join(built, "config-files.js"));
const { policyFiles } = await import(join(built, "policy-files.js"));
const { rulesFile } = await import(join(built, "check", "rules-file.js"));
const { meshFiles } = await import(join(built, "render", "targets", "mesh", "examples.js"));
const { apiFile } = await import(join(built, "control", "openapi.js"));
const { renderSchemaFile, renderTableFile } = await import(join(built, "render", "schema-file.js"));

for (const { path, update } of [
  ...configFiles(),
  ...policyFiles(),
  apiFile(),
  rulesFile(),
  renderSchemaFile(),
  renderTableFile(),
  ...meshFiles(),
]) {
  const file = join(repoRoot, path);
  const present = readFileSync(file, { encoding: "utf8", flag: "a+" });
  const wanted = update(present);
  if (wanted === present) continue;
  writeFileSync(file, wanted);
  console.log(path);
}
