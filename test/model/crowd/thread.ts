import { parentPort, workerData } from "node:worker_threads";
import { checkSchedules } from "./check-schedules.js";

parentPort?.postMessage(checkSchedules(workerData));
