// One target on one thread, so that a case that never ends can be ended from outside.
import { parentPort, workerData } from "node:worker_threads";
import type { RunSettings } from "./run-target.js";
import { runTarget } from "./run-target.js";
import { targetNamed } from "./targets.js";

/** Layout of the shared bytes: the number of the case, its length, its bytes. */
export const HEAD_BYTES = 8;

export interface ThreadJob {
  readonly name: string;
  readonly settings: Omit<RunSettings, "untilMs">;
  readonly limitMs: number;
  readonly shared: SharedArrayBuffer;
}

if (parentPort !== null) {
  const { name, settings, limitMs, shared } = workerData as ThreadJob;
  const head = new Int32Array(shared, 0, 2);
  const room = Buffer.from(shared, HEAD_BYTES);
  const target = await targetNamed(name);
  const result = await runTarget(target, { ...settings, untilMs: performance.now() + limitMs }, (bytes) => {
    head[1] = bytes.copy(room);
    head[0] = (head[0] ?? 0) + 1;
  });
  parentPort.postMessage(result);
}
