// Writes what follows from the schema of the service's settings: `npm run -s schema`.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const repoRoot = join(dirname(fileURLToPath(import.meta.url)), "..");
const { configFiles } = await import(join(repoRoot, "build", "js", "extproc", "config-files.js"));

for (const { path, update } of configFiles()) {
  const file = join(repoRoot, path);
  const present = readFileSync(file, { encoding: "utf8", flag: "a+" });
  const wanted = update(present);
  if (wanted === present) continue;
  writeFileSync(file, wanted);
  console.log(path);
}
