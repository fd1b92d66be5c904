import { parentPort, type TransferListItem } from "node:worker_threads";
import type { JobAnswer } from "./job-answer.js";

/** The worker's side of a WorkerPool: each message is a job, answered once, also when `handle` throws. */
export function serveJobs<Ask, Reply>(
  handle: (ask: Ask) => Reply | Promise<Reply>,
  transferOf: (reply: Reply) => TransferListItem[] = () => [],
): void {
  parentPort?.on("message", async (ask: Ask) => {
    const tell = (answer: JobAnswer<Reply>, transfer: TransferListItem[]) =>
      parentPort?.postMessage(answer, transfer);
    try {
      const reply = await handle(ask);
      tell({ reply }, transferOf(reply));
    } catch {
      // No reply is the answer, also for one that is nested too deep to be sent: the caller knows what to do.
      tell({}, []);
    }
  });
}
