import { parentPort, workerData } from "node:worker_threads";
import { type ReplayJob, replayAll } from "./replay.js";

// One job in the life of the thread: what it allocates in the module's memory is never freed.
parentPort?.postMessage(replayAll(workerData as ReplayJob));
