import { WorkerPool } from "../threads/worker-pool.js";
import { checkFrames } from "./zstd-frames.js";

export interface ZstdJob {
  bytes: Uint8Array;
  maxBytes: number;
}

export type ZstdReply = { kind: "plain"; bytes: Uint8Array<ArrayBuffer> } | { kind: "tooLarge" };

/**
 * A block of 128 KiB can say enough to keep a decoder busy for minutes, and this Node has no native one that works
 * off the event loop; so it is done on a thread that can be ended. Started by the first body that needs it.
 */
let pool: WorkerPool<ZstdJob, ZstdReply> | undefined;

/** Undefined when the bytes are no zstd, want more memory than we give, or take too long. */
export async function decodeZstd(
  bytes: Buffer,
  maxBytes: number,
): Promise<{ kind: "plain"; bytes: Buffer } | { kind: "tooLarge" } | undefined> {
  const verdict = checkFrames(bytes, maxBytes);
  if (verdict !== "fine") return verdict === "tooLarge" ? { kind: "tooLarge" } : undefined;
  pool ??= new WorkerPool({
    script: new URL("./zstd-worker.js", import.meta.url),
    size: 1,
    maxWaiting: 4,
    timeLimitMs: 1000,
    maxHeapMiB: 64,
  });
  const copy = new Uint8Array(bytes);
  const reply = await pool.run({ bytes: copy, maxBytes }, [copy.buffer]);
  if (reply?.kind !== "plain") return reply;
  const { buffer, byteOffset, byteLength } = reply.bytes;
  return { kind: "plain", bytes: Buffer.from(buffer, byteOffset, byteLength) };
}
