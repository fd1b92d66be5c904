import { parseArgs } from "node:util";
import { allCombinations, chosenCombinations } from "./combination.js";
import { type Result, runMatrix } from "./matrix.js";

const usage = `Usage: npm run test:chaos-matrix -- [options]
  --seed N       which combinations, and every draw within them (default 1)
  --count N      how many combinations at least (default 240)
  --only ID      one combination, or all whose id begins so; of all there are, not only of the seed's choice
  --json         one line of JSON on stdout, progress on stderr`;

class UsageError extends Error {
  override name = "UsageError";
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      count: { type: "string", default: "240" },
      only: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const seed = whole("seed", values.seed);
  const { only } = values;
  const combinations =
    only === undefined
      ? chosenCombinations(seed, whole("count", values.count))
      : allCombinations(seed).filter(({ id }) => id === only || id.startsWith(`${only}/`));
  if (combinations.length === 0) throw new UsageError(`no combination is called ${only}`);
  const say = values.json ? console.error : console.log;
  say(`${combinations.length} combinations of seed ${seed}`);

  const startMs = performance.now();
  const results: Result[] = [];
  await runMatrix(combinations, seed, (result) => {
    results.push(result);
    if (result.findings.length > 0) say(told(result, seed));
    else if (results.length % 40 === 0) say(`${results.length} done`);
  });
  const failed = results.filter(({ findings }) => findings.length > 0);
  const passed = results.length - failed.length;
  if (values.json) {
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    const summary = { seed, combinations: combinations.length, seconds, passed, failed: failed.length };
    console.log(JSON.stringify({ ...summary, results }));
  } else if (failed.length > 0) {
    console.log(`\nfailed:\n${failed.map((result) => `  ${result.id}`).join("\n")}`);
  }
  say(`${passed} passed, ${failed.length} failed`);
  if (failed.length > 0) process.exitCode = 1;
}

function told({ id, detail, seconds, findings }: Result, seed: number): string {
  const lines = findings.map((finding) => `    ${finding}`);
  const again = `    again: npm run test:chaos-matrix -- --seed ${seed} --only ${id}`;
  return [`FAILED ${id} (${detail}, ${seconds} s)`, ...lines, again].join("\n");
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new UsageError(`--${name} must be a whole number above 0, got ${text}`);
}

main().catch((error: Error & { code?: string }) => {
  const isUsage = error.name === "UsageError" || error.code?.startsWith("ERR_PARSE_ARGS");
  console.error(isUsage ? `${error.message}\n\n${usage}` : error);
  process.exitCode = 1;
});
