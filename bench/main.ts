import { join } from "node:path";
import { parseArgs } from "node:util";
import { findRepoRoot } from "../test/support/repo-root.js";
import { measureChain } from "./chain/chain.js";

const usage = `Usage: npm run bench -- [options]
  --only chain       CPU that the filter chain adds to a request inside Envoy (the only bench so far)
  --json             one line of JSON on stdout instead of indented JSON
  --requests N       in each cell, over all blocks (default 36000)
  --blocks N         turns, each measuring every cell once (default 9)
  --modules FOLDER   another build of the filter (default build)`;

const liveStreams = 5000;
const benches = ["chain"];

class UsageError extends Error {
  override name = "UsageError";
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", default: "chain" },
      json: { type: "boolean", default: false },
      requests: { type: "string", default: "36000" },
      blocks: { type: "string", default: "9" },
      modules: { type: "string", default: join(findRepoRoot(), "build") },
    },
  });
  if (!benches.includes(values.only)) {
    throw new UsageError(`--only must be one of ${benches.join(", ")}, got ${values.only}`);
  }
  const result = await measureChain({
    modules: values.modules,
    requests: whole("requests", values.requests),
    blocks: whole("blocks", values.blocks),
    liveStreams,
    say: (line) => console.error(line),
  });
  console.log(JSON.stringify(result, undefined, values.json ? undefined : 2));
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new UsageError(`--${name} must be a whole number above 0, got ${text}`);
}

main().catch((error: Error & { code?: string }) => {
  const isUsage = error.name === "UsageError" || error.code?.startsWith("ERR_PARSE_ARGS");
  console.error(isUsage ? `${error.message}\n\n${usage}` : `bench: ${error.message}`);
  process.exitCode = 1;
});
