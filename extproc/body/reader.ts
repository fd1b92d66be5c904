import { WorkerPool } from "../threads/worker-pool.js";
import { readFacts } from "./facts.js";
import type { BodyFacts } from "./prompt.js";

export interface ReadJob {
  path: string;
  bytes: Uint8Array;
  maxTextBytes: number;
  /** The gate could not read the body, so its chain may go by what is found here. */
  isDecoded: boolean;
}

/** Parsing so much takes about a millisecond; more is another thread's work. Bytes. */
const INLINE_BYTES = 65_536;

/** Started by the first large body. Each job holds a copy of one: so many may wait. */
let pool: WorkerPool<ReadJob, BodyFacts | undefined> | undefined;

/**
 * What a body says, read by its endpoint; a large one off the event loop, and with more text than `maxTextBytes` only
 * its size. Undefined when it is no JSON object, or reading it takes too long or too much memory.
 */
export async function readBody(
  path: string,
  bytes: Buffer,
  maxTextBytes: number,
  isDecoded: boolean,
): Promise<BodyFacts | undefined> {
  if (bytes.length <= INLINE_BYTES) return readFacts(path, bytes, isDecoded);
  pool ??= new WorkerPool({
    script: new URL("./reader-worker.js", import.meta.url),
    size: 2,
    maxWaiting: 8,
    timeLimitMs: 1000,
    maxHeapMiB: 512,
  });
  const copy = new Uint8Array(bytes);
  return pool.run({ path, bytes: copy, maxTextBytes, isDecoded }, [copy.buffer]);
}
