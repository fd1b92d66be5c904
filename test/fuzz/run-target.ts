import { heldBytes } from "./support/flat.js";
import { glaringGrowthOf, growthOf } from "./support/growth.js";
import { minimise, spell } from "./support/minimise.js";
import { Mutator } from "./support/mutator.js";
import { Random } from "./support/random.js";
import type { Session, Target, Told } from "./target.js";

export interface RunSettings {
  readonly cases: number;
  readonly seed: number;
  /** Ends the run before its cases are done. */
  readonly untilMs: number;
}

export interface RunResult {
  readonly cases: number;
  /** Cases that the parser took for what it reads. */
  readonly taken: number;
  /** Different things that cases told. */
  readonly kinds: number;
  /** Of one case, the pauses of a busy machine taken out by trying again. */
  readonly slowestMs: number;
  /** What is held at the end and was not once the run was warm. */
  readonly grownBytes: number;
  readonly failures: readonly string[];
}

/** Told of each case before it is run, so that one that never ends is known. */
export type Announce = (bytes: Buffer) => void;

export const MAX_BYTES = 2048;
/** What one case may take. Milliseconds; a body of this size is read in far less than one. */
const CASE_LIMIT_MS = 40;
/** A shorter run only takes a glance at how time grows. */
const LEAST_FOR_GROWTH = 100_000;
const GLANCE_MS = 80;
const MAX_KINDS = 65_536;
const MAX_FAILURES = 3;
/** What the largest cases of a run may take more than those of its beginning; a byte for each of a million is no leak. */
const MEMORY_LIMIT_BYTES = 8 * 1024 * 1024;
/** V8 has compiled what there is to compile, and pools are filled. */
const WARM_CASES = 50_000;
/** Of each thing told, beside its letters. */
const EACH_KIND_BYTES = 80;
/** What V8 itself may take: code, maps, pools. */
const GROWTH_LIMIT_BYTES = 5 * 1024 * 1024;

/** Runs the cases of one target on this thread. */
export async function runTarget(
  target: Target,
  settings: RunSettings,
  announce: Announce,
): Promise<RunResult> {
  const run = new Run(target, settings, announce);
  const session = await target.open();
  try {
    return await run.all(session);
  } finally {
    await session.close?.();
  }
}

class Run {
  private readonly random: Random;
  private readonly mutator: Mutator;
  private readonly kinds = new Set<string>();
  private readonly failures: string[] = [];
  private readonly failed = new Set<string>();
  private kindBytes = 0;
  private taken = 0;
  private slowestMs = 0;

  constructor(
    private readonly target: Target,
    private readonly settings: RunSettings,
    private readonly announce: Announce,
  ) {
    this.random = new Random(settings.seed);
    const { seeds, words = [], maxBytes = MAX_BYTES } = target;
    this.mutator = new Mutator(seeds, words, maxBytes);
  }

  async all(session: Session): Promise<RunResult> {
    for (const seed of this.target.seeds) await this.one(session, seed);
    const { untilMs } = this.settings;
    const cases = Math.ceil(this.settings.cases / (this.target.oneCaseFor ?? 1));
    const warm = Math.min(Math.floor(cases / 5), WARM_CASES);
    let done = this.target.seeds.length;
    let before: Held | undefined;
    for (; done < cases && this.failures.length < MAX_FAILURES; done++) {
      if (done === warm) before = this.held(session);
      await this.one(session, this.mutator.next(this.random));
      if ((done & 255) === 0 && performance.now() > untilMs) break;
    }
    if (this.failures.length === 0) this.judgeGrowth(before, this.held(session), done - warm);
    if (this.failures.length === 0) await this.judgeLength(session, done);
    return {
      cases: done,
      taken: this.taken,
      kinds: this.kinds.size,
      slowestMs: this.slowestMs,
      grownBytes: before === undefined ? 0 : this.held(session).bytes - before.bytes,
      failures: this.failures,
    };
  }

  private async one(session: Session, bytes: Buffer): Promise<void> {
    this.announce(bytes);
    const seed = this.random.next(2 ** 31);
    const startMs = performance.now();
    try {
      const running = session.run(bytes, new Random(seed));
      const told = typeof running === "string" ? running : await running;
      this.note(bytes, told);
      await this.judgeTime(session, bytes, seed, performance.now() - startMs);
    } catch (cause) {
      await this.fail(session, bytes, seed, cause);
    }
  }

  private note(bytes: Buffer, told: Told): void {
    if (told !== "") this.taken++;
    if (this.kinds.has(told) || this.kinds.size >= MAX_KINDS) return;
    this.kinds.add(told);
    this.kindBytes += told.length * 2 + EACH_KIND_BYTES;
    this.mutator.learn(bytes, this.random);
  }

  private async judgeTime(session: Session, bytes: Buffer, seed: number, tookMs: number): Promise<void> {
    if (tookMs <= this.slowestMs) return;
    let leastMs = tookMs;
    const { caseMs = CASE_LIMIT_MS } = this.target;
    for (let again = 0; leastMs > this.slowestMs && again < (leastMs > caseMs ? 20 : 3); again++) {
      const startMs = performance.now();
      await session.run(bytes, new Random(seed));
      leastMs = Math.min(leastMs, performance.now() - startMs);
    }
    this.slowestMs = Math.max(this.slowestMs, leastMs);
    if (leastMs > caseMs) throw new Error(`took ${leastMs.toFixed(0)} ms, ${caseMs} are allowed`);
  }

  private async fail(session: Session, bytes: Buffer, seed: number, cause: unknown): Promise<void> {
    const reason = reasonOf(cause);
    const known = kindOf(reason);
    if (this.failed.has(known)) return;
    this.failed.add(known);
    const least = await minimise(bytes, async (candidate) => {
      this.announce(candidate);
      try {
        await session.run(candidate, new Random(seed));
        return false;
      } catch (again) {
        return kindOf(reasonOf(again)) === known;
      }
    });
    this.failures.push(
      `${reason}\n  bytes: ${spell(least)}\n  run's seed ${this.settings.seed}, case's ${seed}`,
    );
  }

  private async judgeLength(session: Session, cases: number): Promise<void> {
    const watch = { announce: this.announce };
    const problem =
      cases >= LEAST_FOR_GROWTH
        ? await growthOf(this.target, session, watch)
        : await glaringGrowthOf(
            this.target,
            session,
            { seed: this.settings.seed, budgetMs: GLANCE_MS },
            watch,
          );
    if (problem !== undefined) this.failures.push(problem);
  }

  /** What the fuzzer itself has learned is left out. */
  private held(session: Session): Held {
    const memory = session.memoryBytes?.() ?? 0;
    return { bytes: heldBytes() - memory - this.mutator.heldBytes - this.kindBytes, memory };
  }

  private judgeGrowth(before: Held | undefined, after: Held, cases: number): void {
    if (before === undefined || cases < 1000) return;
    const grown = after.bytes - before.bytes;
    if (grown > GROWTH_LIMIT_BYTES) this.failures.push(`holds ${grown} bytes more after ${cases} cases`);
    if (after.memory - before.memory > MEMORY_LIMIT_BYTES) {
      this.failures.push(`its memory grew by ${after.memory - before.memory} bytes in ${cases} cases`);
    }
  }
}

interface Held {
  readonly bytes: number;
  readonly memory: number;
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const at = cause.stack
    ?.split("\n")
    .find((line) => /\/(extproc|filter)\//.test(line) && !line.includes("/test/"));
  return `${cause.name}: ${cause.message.slice(0, 400)}${at === undefined ? "" : ` (${at.trim()})`}`;
}

/** The same failure with other bytes in its words. */
function kindOf(reason: string): string {
  return reason.split("\n", 1)[0]?.replaceAll(/\d+/g, "0").slice(0, 40) ?? "";
}
