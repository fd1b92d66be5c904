import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { findRepoRoot } from "../root.js";
import { type BackendRecord, MAX_OPENINGS, recordOf } from "./dry-run-record.js";
import type { DryRunAsk, DryRunResult, Opening } from "./dry-run-schemas.js";
import { ControlError } from "./errors.js";
import type { Fleet } from "./fleet.js";
import type { History } from "./history.js";
import type { ReplayAnswer, ReplayedBackend, ReplayJob } from "./replay.js";
import { durationMs } from "./schemas.js";

const MODULE = join("build", "llm-breaker-dry-run.wasm");
const WORKER = new URL("./dry-run-worker.js", import.meta.url);
/** More backends at once would hold up the service while their records are gathered. */
const MAX_BACKENDS = 32;
const TIME_LIMIT_MS = 10_000;
const SECOND_MS = 1000;

const NOTES = [
  "All gateways are replayed as one: what each decides alone by its share of the calls may differ.",
  "The order of calls within a second is not recorded: failures are spread evenly.",
  "Failures keep the weights, slow calls the thresholds, and outcomes the classes of the policy in force.",
  "A probe goes as the calls of its second; where there are none, as gateways knew the backend to be.",
  "While the backend really was refused calls, only what canaries met is known of it.",
  "latencyDrift and costRate are not replayed.",
] as const;

/** What a policy would have done with the last hour, by the filter's own parser and breaker. One at a time. */
export class DryRun {
  private isRunning = false;

  constructor(
    private readonly fleet: Fleet,
    private readonly history: History,
    private readonly wallNow: () => number = Date.now,
  ) {}

  /** @throws ControlError for a policy that Envoy would refuse, and while another run is under way. */
  async run(ask: DryRunAsk): Promise<DryRunResult> {
    if (this.isRunning) throw new ControlError(429, "another dry-run is under way, try again in a second");
    this.isRunning = true;
    try {
      return await this.replay(ask);
    } finally {
      this.isRunning = false;
    }
  }

  private async replay(ask: DryRunAsk): Promise<DryRunResult> {
    const policy = textOf(ask.policy);
    const toMs = this.wallNow();
    const fromMs = toMs - durationMs(ask.since);
    const records = await this.gather(backendsIn(policy, ask.backend), fromMs, toMs);
    const answer = await runThread({
      module: loadModule(),
      policy,
      records: new Map(records.map(({ name, figures }) => [name, figures])),
      seconds: Math.ceil((toMs - fromMs) / SECOND_MS),
    });
    if ("error" in answer) throw new ControlError(400, answer.error, "policy");
    if (ask.backend !== undefined && !answer.names.includes(ask.backend)) {
      throw new ControlError(
        400,
        `backend must be one of the policy's: ${answer.names.join(", ")}`,
        "backend",
      );
    }
    const backends = answer.backends.map((replayed) => {
      const record = records.find(({ name }) => name === replayed.name) as BackendRecord;
      return compare(record, replayed, fromMs, toMs);
    });
    return { policy: answer.policy, from: iso(fromMs), to: iso(toMs), backends, notes: [...NOTES] };
  }

  /** The service goes on between any two. */
  private async gather(names: readonly string[], fromMs: number, toMs: number): Promise<BackendRecord[]> {
    if (names.length > MAX_BACKENDS) {
      throw new ControlError(400, `the policy has more than ${MAX_BACKENDS} backends, name one`, "backend");
    }
    const records: BackendRecord[] = [];
    for (const name of names) {
      records.push(recordOf(this.fleet, this.history, name, fromMs, toMs));
      await setImmediate();
    }
    return records;
  }
}

function textOf(policy: DryRunAsk["policy"]): string {
  if (typeof policy === "string") return policy;
  try {
    return JSON.stringify(policy);
  } catch (cause) {
    if (cause instanceof RangeError) throw new ControlError(400, "policy is nested too deeply", "policy");
    throw cause;
  }
}

/** Which records are wanted; what is wrong with the policy is the module's to say. */
function backendsIn(policy: string, only: string | undefined): string[] {
  try {
    const { backends } = JSON.parse(policy) as { backends?: object };
    return Object.keys(backends ?? {}).filter((name) => only === undefined || name === only);
  } catch {
    return [];
  }
}

function loadModule(): Uint8Array {
  const file = join(findRepoRoot(), MODULE);
  if (!existsSync(file)) throw new ControlError(503, `${MODULE} is not built: npm run build:filter`);
  return readFileSync(file);
}

function runThread(workerData: ReplayJob): Promise<ReplayAnswer> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER, { workerData, resourceLimits: { maxOldGenerationSizeMb: 128 } });
    const timer = setTimeout(() => {
      void worker.terminate();
      reject(new ControlError(503, "the dry-run took too long, ask for less by since or backend"));
    }, TIME_LIMIT_MS);
    worker.on("message", (answer: ReplayAnswer) => {
      clearTimeout(timer);
      resolve(answer);
      void worker.terminate();
    });
    worker.on("error", (cause) => {
      clearTimeout(timer);
      reject(new Error("the dry-run failed", { cause }));
    });
    worker.on("exit", () => {
      clearTimeout(timer);
      reject(new Error("the dry-run ended without an answer"));
    });
  });
}

function compare(
  { name, recorded, actual }: BackendRecord,
  { transitions, refusedCalls }: ReplayedBackend,
  fromMs: number,
  toMs: number,
): DryRunResult["backends"][number] {
  const openings: Opening[] = transitions
    .filter(({ to }) => to === "OPEN")
    .map(({ atMs, cause, openings: row, waitMs }) => {
      return { at: iso(fromMs + atMs), cause, openings: row, waitMs };
    });
  let notClosedMs = 0;
  let sinceMs: number | undefined;
  for (const { atMs, to } of transitions) {
    if (to === "CLOSED") notClosedMs += atMs - (sinceMs ?? atMs);
    sinceMs = to === "CLOSED" ? undefined : (sinceMs ?? atMs);
  }
  if (sinceMs !== undefined) notClosedMs += toMs - fromMs - sinceMs;
  const endsAs = (transitions.at(-1)?.to ?? "CLOSED") as "CLOSED" | "OPEN" | "HALF_OPEN";
  return {
    name,
    recorded,
    actual,
    replayed: {
      openings: openings.slice(0, MAX_OPENINGS),
      openingCount: openings.length,
      notClosedMs: Math.round(notClosedMs),
      refusedCalls: Math.round(refusedCalls),
      endsAs,
    },
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
