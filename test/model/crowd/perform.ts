import type { RecordCalls } from "../record/worker.js";
import type { Operation } from "../reference/operation.js";

const wholeFailure = 100;

/** Does an operation in a worker's instance; its answer, 0 where there is none. */
export function perform(calls: RecordCalls, operation: Operation, nowMs: number): number {
  switch (operation.kind) {
    case "look":
      return calls.look(nowMs, operation.random);
    case "canary":
      return calls.acquireCanary(nowMs, Number(operation.isIdle)) >>> 0;
    case "outcome": {
      const { generation, permit, outcome, retryAfterMs } = operation;
      return calls.fileOutcome(nowMs, generation, permit, outcome, wholeFailure, retryAfterMs);
    }
    case "takeProbe":
      return calls.acquireProbe(nowMs, operation.owner);
    default:
      tell(calls, operation, nowMs);
      return 0;
  }
}

type Asked = Extract<Operation, { kind: "look" | "canary" | "outcome" | "takeProbe" }>;

function tell(calls: RecordCalls, operation: Exclude<Operation, Asked>, nowMs: number): void {
  switch (operation.kind) {
    case "successes":
      calls.flushSuccesses(nowMs);
      break;
    case "firstTokens":
      calls.fileFirstTokens(nowMs, operation.generation, operation.calls, operation.slow);
      break;
    case "release":
      calls.releasePermit(nowMs, operation.permit);
      break;
    case "renew":
      calls.renewPermit(nowMs, operation.permit);
      break;
    case "probeVerdict":
      calls.fileProbe(nowMs, operation.owner, Number(operation.isWell));
      break;
    case "abandon":
      calls.abandonProbe(nowMs, operation.owner);
      break;
    case "close":
      calls.closeIfReady(nowMs);
      break;
    case "word": {
      const { version, generation, to, stage, openings, waitMs, cause, isForAll } = operation;
      const told = [version, generation, to, stage, openings, waitMs, cause, Number(isForAll)] as const;
      calls.applyMove(nowMs, ...told);
    }
  }
}
