import { parentPort, type TransferListItem } from "node:worker_threads";
import type { JobAnswer } from "./job-answer.js";

/** The worker's side of a WorkerPool: each message is a job, answered once, also when `handle` throws. */
export function serveJobs<Ask, Reply>(
  handle: (ask: Ask) => Reply | Promise<Reply>,
  transferOf: (reply: Reply) => TransferListItem[] = () => [],
): void {
  parentPort?.on("message", async (ask: Ask) => {
    const answer: JobAnswer<Reply> = {};
    let transfer: TransferListItem[] = [];
    try {
      answer.reply = await handle(ask);
      transfer = transferOf(answer.reply);
    } catch {
      // No reply is the answer: the caller knows what to do without one.
    }
    parentPort?.postMessage(answer, transfer);
  });
}
