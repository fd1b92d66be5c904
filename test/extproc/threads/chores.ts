import { threadId } from "node:worker_threads";
import { serveJobs } from "../../../extproc/threads/serve-jobs.js";

/** What the worker of the pool's tests does, good and bad. */
export type Chore =
  | { kind: "sum"; bytes: Uint8Array }
  | { kind: "nest"; depth: number }
  | { kind: "thread" | "throw" | "exit" | "grow" | "stuck" };

serveJobs((chore: Chore): unknown => {
  switch (chore.kind) {
    case "sum":
      return chore.bytes.reduce((sum, byte) => sum + byte, 0);
    case "nest": {
      let nested: unknown[] = [];
      for (let level = 0; level < chore.depth; level++) nested = [nested];
      return nested;
    }
    case "thread":
      return threadId;
    case "throw":
      throw new Error("a job failed");
    case "exit":
      return process.exit(1);
    case "grow": {
      const kept: object[] = [];
      for (;;) kept.push({ kept: [kept.length] });
    }
    case "stuck":
      for (;;);
  }
});
