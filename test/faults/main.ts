// The faults that an upstream can have, each played through the whole shipped chain: what callers get, and at what price.
import { parseArgs } from "node:util";
import { type Commit, commits, type SharedService, startSharedService } from "./chain.js";
import { faults } from "./faults.js";
import { flapping, runFlapping } from "./flapping.js";
import { asJson, failures, table, totals } from "./report.js";
import { type Result, runFault, unrun } from "./run-fault.js";

interface Story {
  readonly name: string;
  readonly what: string;
  readonly run: (commit: Commit, service: SharedService) => Promise<Result>;
}

const stories: readonly Story[] = [
  ...faults.map((fault): Story => {
    const { name, what } = fault;
    return { name, what, run: (commit, service) => runFault(fault, commit, service) };
  }),
  { ...flapping, run: runFlapping },
];

const usage = `Usage: npm run test:faults -- [options]
  --only NAME,NAME   some of the faults: ${stories.map(({ name }) => name).join(", ")}
  --json             one line of JSON on stdout; the table goes to stderr`;

const sideBySide = 4;
/** Started first, since they wait for a limit: the whole takes little more than the longest of them. */
const longest = [flapping.name, "stall", "no-answer", "late-first-token"];

class UsageError extends Error {
  override name = "UsageError";
}

interface Job {
  readonly story: Story;
  readonly commit: Commit;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: "string" }, json: { type: "boolean", default: false } },
  });
  const startMs = performance.now();
  const jobs = jobsFor(values.only?.split(","));
  const results = await runAll(jobs);
  const say = values.json ? console.error : console.log;
  say([table(results), ...failures(results)].join("\n"));
  if (values.json) console.log(asJson(results, (performance.now() - startMs) / 1000));
  const { passed, failed } = totals(results);
  say(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

function jobsFor(only: readonly string[] | undefined): Job[] {
  const unknown = only?.filter((each) => !stories.some(({ name }) => name === each)) ?? [];
  if (unknown.length > 0) throw new UsageError(`--only: no fault "${unknown.join(", ")}"`);
  return stories
    .filter(({ name }) => !only || only.includes(name))
    .flatMap((story) => commits.map((commit) => ({ story, commit })));
}

/** The results in the order of the jobs, whatever order they were run in. */
async function runAll(jobs: readonly Job[]): Promise<Result[]> {
  const service = await startSharedService();
  const results = new Map<Job, Result>();
  const waiting = jobs.toSorted((a, b) => rank(a) - rank(b));
  const work = async (): Promise<void> => {
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      const { story, commit } = job;
      results.set(job, await story.run(commit, service).catch((error) => unrun(story, commit, error)));
    }
  };
  try {
    await Promise.all(Array.from({ length: sideBySide }, work));
  } finally {
    await service.running.stop();
  }
  return jobs.flatMap((job) => results.get(job) ?? []);
}

function rank({ story }: Job): number {
  const at = longest.indexOf(story.name);
  return at < 0 ? longest.length : at;
}

main().catch((error: Error & { code?: string }) => {
  const isUsage = error.name === "UsageError" || error.code?.startsWith("ERR_PARSE_ARGS");
  console.error(isUsage ? `${error.message}\n\n${usage}` : `faults: ${error.message}`);
  process.exitCode = 1;
});
