import { WorkerPool } from "../../threads/worker-pool.js";
import { Untranslatable } from "../untranslatable.js";
import { type MessagesRequest, toMessages } from "./request.js";

/** Translating so much takes about a millisecond; more (pictures, most of it) is another thread's work. Bytes. */
const INLINE_BYTES = 65_536;

/** Started by the first large body. Each job holds a copy of one: so many may wait. */
let pool: WorkerPool<Uint8Array, MessagesRequest> | undefined;

/** Undefined for what can't be said in Messages, and for a body that takes too long or too much memory. */
export async function translateRequest(body: Buffer): Promise<MessagesRequest | undefined> {
  if (body.length <= INLINE_BYTES) return translateHere(body);
  pool ??= new WorkerPool({
    script: new URL("./request-worker.js", import.meta.url),
    size: 2,
    maxWaiting: 8,
    // Envoy waits a second for the whole answer.
    timeLimitMs: 900,
    maxHeapMiB: 512,
  });
  const copy = new Uint8Array(body);
  return pool.run(copy, [copy.buffer]);
}

function translateHere(body: Buffer): MessagesRequest | undefined {
  try {
    return toMessages(body);
  } catch (cause) {
    if (cause instanceof Untranslatable) return undefined;
    throw cause;
  }
}
