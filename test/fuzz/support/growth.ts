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

/** What takes more than its share of time when it is twice as long; undefined when nothing does. */
export async function growthOf(
  target: Target,
  session: Session,
  now = () => performance.now(),
): Promise<string | undefined> {
  const { linearBytes = LINEAR_BYTES } = target;
  const units = [...PLAIN, ...(target.words ?? [])].map((text) => Buffer.from(text, "latin1"));
  const repeated = [...units, ...target.seeds.slice(0, 40)].filter((unit) => unit.length > 0);
  // The unit alone, and within a message, where the parser is in its midst.
  const [first = Buffer.alloc(0)] = target.seeds;
  const cases = repeated.flatMap((unit) => [
    [Buffer.alloc(0), unit] as const,
    [first.subarray(0, first.length / 2), unit] as const,
  ]);
  for (const [head, unit] of cases) {
    const problem = await tryUnit(session, head, unit, linearBytes, now);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function tryUnit(
  session: Session,
  head: Buffer,
  unit: Buffer,
  linearBytes: number,
  now: () => number,
): Promise<string | undefined> {
  let previousMs = Number.POSITIVE_INFINITY;
  for (let size = linearBytes >> 3; size > 0 && size <= linearBytes; size *= 2) {
    const bytes = Buffer.concat([head, Buffer.alloc(size, unit)]);
    const limitMs = Math.max(previousMs * MOST_TIMES, LEAST_MS);
    const what = JSON.stringify(unit.toString("latin1").slice(0, 60));
    const behind = JSON.stringify(head.toString("latin1").slice(0, 60));
    let tookMs: number;
    try {
      tookMs = await leastOf(session, bytes, limitMs, now);
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
async function leastOf(session: Session, bytes: Buffer, limitMs: number, now: () => number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let again = 0; again < TRIES; again++) {
    const startMs = now();
    await session.run(bytes, new Random(7));
    least = Math.min(least, now() - startMs);
    if (least <= limitMs && (Number.isFinite(limitMs) || again >= FIRST_TRIES)) break;
  }
  return least;
}
