import { join } from "node:path";
import { parseArgs } from "node:util";
import { findRepoRoot } from "../test/support/repo-root.js";
import { measureChain } from "./chain/chain.js";
import { measureExtproc } from "./extproc/extproc.js";
import { measureSoak } from "./soak/soak.js";
import { measureStream } from "./stream/stream.js";

const usage = `Usage: npm run bench -- [options]
  --only NAME        chain    CPU that the filter chain adds to a request inside Envoy (default)
                     stream   what reading an event stream adds: CPU a response and event, time to a token
                     extproc  what asking the service costs: its CPU a request, a caller's wait
                     soak     whether memory stays flat while half of the callers leave
  --json             one line of JSON on stdout instead of indented JSON
  --requests N       chain: in each cell, over all blocks (default 36000)
                     stream: streamed answers in each cell, over all blocks (default 864)
                     extproc: in each cell, over all blocks (default 90000)
                     soak: in all (default 2000000; 200000 is enough for a quick look)
  --blocks N         chain, stream, extproc: turns, each measuring every cell once (default 9)
  --modules FOLDER   another build of the filter (default build)`;

const liveStreams = 5000;

interface Settings {
  readonly modules: string;
  readonly requests: number;
  readonly blocks: number;
  readonly say: (line: string) => void;
}

interface Bench {
  readonly requests: number;
  readonly run: (settings: Settings) => Promise<object>;
}

const benches: Readonly<Record<string, Bench>> = {
  chain: { requests: 36_000, run: (settings) => measureChain({ ...settings, liveStreams }) },
  stream: { requests: 864, run: ({ requests, ...rest }) => measureStream({ ...rest, responses: requests }) },
  extproc: { requests: 90_000, run: measureExtproc },
  soak: { requests: 2_000_000, run: measureSoak },
};

class UsageError extends Error {
  override name = "UsageError";
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", default: "chain" },
      json: { type: "boolean", default: false },
      requests: { type: "string" },
      blocks: { type: "string", default: "9" },
      modules: { type: "string", default: join(findRepoRoot(), "build") },
    },
  });
  const bench = Object.hasOwn(benches, values.only) ? benches[values.only] : undefined;
  if (!bench) {
    throw new UsageError(`--only must be one of ${Object.keys(benches).join(", ")}, got "${values.only}"`);
  }
  const result = await bench.run({
    modules: values.modules,
    requests: values.requests === undefined ? bench.requests : whole("requests", values.requests),
    blocks: whole("blocks", values.blocks),
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
