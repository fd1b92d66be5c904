import type { Session, Target } from "../target.js";
import { Random } from "./random.js";

/** Twice the bytes may take twice the time; this is for noise and caches. */
const MOST_TIMES = 3.2;
const LINEAR_BYTES = 131_072;
/** Less is not told from noise; what looks at each byte for each byte takes far more at these sizes. */
const LEAST_MS = 50;
/** A busy machine stops a thread for longer than a parser takes: what once was fast enough is. */
const TRIES = 30;
/** Of the first size, which has no limit. */
const FIRST_TRIES = 3;
/** No more than the first tries after that. */
const PATIENCE_MS = 5_000;
const PLAIN = [
  '"',
  "\\",
  "[",
  "]",
  "{",
  "}",
  '{"a":',
  ",",
  ":",
  " ",
  "\n",
  "\r",
  "0",
  "a",
  "\0",
  "\xff",
  '\\"',
  '","',
  "data:",
];

interface Watch {
  /** Told of each case before it is run. */
  readonly announce?: (bytes: Buffer) => void;
  readonly now?: () => number;
}

/** What takes more than its share of time when it is twice as long; undefined when nothing does. */
export async function growthOf(
  target: Target,
  session: Session,
  watch: Watch = {},
): Promise<string | undefined> {
  const { linearBytes = LINEAR_BYTES } = target;
  for (const [head, unit] of casesOf(target)) {
    const problem = await tryUnit(session, { head, unit, from: linearBytes >> 3, to: linearBytes }, watch);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The same at a glance: some of these cases, drawn by the seed, as many as there is time for; and only what takes long is measured. */
export async function glaringGrowthOf(
  target: Target,
  session: Session,
  { seed, budgetMs }: { readonly seed: number; readonly budgetMs: number },
  watch: Watch = {},
): Promise<string | undefined> {
  const { now = () => performance.now() } = watch;
  const to = (target.linearBytes ?? LINEAR_BYTES) >> 2;
  const random = new Random(seed);
  const cases = to > 0 ? casesOf(target) : [];
  const untilMs = now() + budgetMs;
  while (cases.length > 0 && now() < untilMs) {
    const [[head, unit] = []] = cases.splice(random.next(cases.length), 1);
    if (!head || !unit) break;
    const problem = await glanceAt(session, { head, unit, from: to >> 1, to }, watch);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function glanceAt(session: Session, stretch: Stretch, watch: Watch): Promise<string | undefined> {
  try {
    if ((await leastOf(session, stretched(stretch, stretch.to), LEAST_MS, watch, 1)) <= LEAST_MS)
      return undefined;
  } catch {
    // It is thrown again, and told.
  }
  return tryUnit(session, stretch, watch);
}

/** The unit alone, and within a message, where the parser is in its midst. */
function casesOf(target: Target): (readonly [head: Buffer, unit: Buffer])[] {
  const units = [...PLAIN, ...(target.words ?? [])].map((text) => Buffer.from(text, "latin1"));
  const repeated = [...units, ...target.seeds.slice(0, 40)].filter((unit) => unit.length > 0);
  const [first = Buffer.alloc(0)] = target.seeds;
  return repeated.flatMap((unit) => [
    [Buffer.alloc(0), unit] as const,
    [first.subarray(0, first.length / 2), unit] as const,
  ]);
}

/** A unit that is repeated behind a head, to sizes that double. */
interface Stretch {
  readonly head: Buffer;
  readonly unit: Buffer;
  readonly from: number;
  readonly to: number;
}

function stretched({ head, unit }: Stretch, size: number): Buffer {
  return Buffer.concat([head, Buffer.alloc(size, unit)]);
}

async function tryUnit(session: Session, stretch: Stretch, watch: Watch): Promise<string | undefined> {
  const { head, unit, from, to } = stretch;
  let previousMs = Number.POSITIVE_INFINITY;
  for (let size = from; size > 0 && size <= to; size *= 2) {
    const bytes = stretched(stretch, size);
    const limitMs = Math.max(previousMs * MOST_TIMES, LEAST_MS);
    const what = JSON.stringify(unit.toString("latin1").slice(0, 60));
    const behind = JSON.stringify(head.toString("latin1").slice(0, 60));
    let tookMs: number;
    try {
      tookMs = await leastOf(session, bytes, limitMs, watch);
    } catch (cause) {
      return `${size} bytes of ${what} behind ${behind}: ${String(cause).slice(0, 300)}`;
    }
    if (tookMs > limitMs) {
      return `${size} bytes of ${what} behind ${behind} take ${tookMs.toFixed(2)} ms, half of them ${previousMs.toFixed(2)}`;
    }
    previousMs = tookMs;
  }
  return undefined;
}

/** Of a few tries; no more are needed once one is within the limit. */
async function leastOf(
  session: Session,
  bytes: Buffer,
  limitMs: number,
  { announce, now = () => performance.now() }: Watch,
  tries = TRIES,
): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  const untilMs = now() + PATIENCE_MS;
  for (let again = 0; again < tries; again++) {
    announce?.(bytes);
    const startMs = now();
    await session.run(bytes, new Random(7));
    least = Math.min(least, now() - startMs);
    if (again >= FIRST_TRIES && (now() > untilMs || limitMs === Number.POSITIVE_INFINITY)) break;
    if (least <= limitMs && limitMs !== Number.POSITIVE_INFINITY) break;
  }
  return least;
}
