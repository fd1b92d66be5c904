import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Checked } from "./check-schedules.js";

/** Shares schedules out to as many threads as there are processors, each with a seed of its own. */
export async function checkInThreads(runs: number, seed: number): Promise<Checked[]> {
  const threads = Math.max(2, availableParallelism());
  const each = Math.ceil(runs / threads);
  return Promise.all(Array.from({ length: threads }, (_, index) => checkInThread(each, seed + index)));
}

async function checkInThread(runs: number, seed: number): Promise<Checked> {
  const worker = new Worker(new URL("./thread.js", import.meta.url), { workerData: { runs, seed } });
  const [checked] = await once(worker, "message");
  await worker.terminate();
  return checked;
}
