import { join } from "node:path";
import { parseArgs } from "node:util";
import { findRepoRoot } from "../test/support/repo-root.js";
import { type Bench, benches } from "./benches.js";

const names = Object.keys(benches);
const usage = `Usage: npm run bench -- [options]
  --only NAME        which one (default chain):
${Object.entries(benches)
  .map(([name, { what }]) => `                       ${name.padEnd(13)}${what}`)
  .join("\n")}
  --json             one line of JSON on stdout instead of indented JSON
  --section          one line of JSON: what the report says of it
  --requests N       how many:
${Object.entries(benches)
  .filter(([, { counts }]) => counts)
  .map(
    ([name, { counts, requests }]) =>
      `                       ${name.padEnd(13)}${counts} (default ${requests})`,
  )
  .join("\n")}
  --blocks N         turns, each measuring every cell once
  --modules FOLDER   another build of the filter (default build)

npm run bench:report runs them all and writes docs/benchmarks.md.`;

class UsageError extends Error {
  override name = "UsageError";
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", default: "chain" },
      json: { type: "boolean", default: false },
      section: { type: "boolean", default: false },
      requests: { type: "string" },
      blocks: { type: "string" },
      modules: { type: "string", default: join(findRepoRoot(), "build") },
    },
  });
  const bench = benchOf(values.only);
  const defaults = values.section ? bench.inReport : bench;
  const { raw, section } = await bench.run({
    modules: values.modules,
    requests: whole("requests", values.requests) ?? defaults.requests,
    blocks: whole("blocks", values.blocks) ?? defaults.blocks,
    say: (line) => console.error(line),
  });
  if (values.section) console.log(JSON.stringify(section));
  else console.log(JSON.stringify(raw, undefined, values.json ? undefined : 2));
}

function benchOf(name: string): Bench {
  const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
  if (!bench) throw new UsageError(`--only must be one of ${names.join(", ")}, got "${name}"`);
  return bench;
}

function whole(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new UsageError(`--${name} must be a whole number above 0, got ${text}`);
}

main().catch((error: Error & { code?: string }) => {
  const isUsage = error.name === "UsageError" || error.code?.startsWith("ERR_PARSE_ARGS");
  console.error(isUsage ? `${error.message}\n\n${usage}` : `bench: ${error.message}`);
  process.exitCode = 1;
});
