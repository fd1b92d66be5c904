import type { Agent } from "node:http";
import { monotonicMs } from "../../demo/clock.js";
import { type CallRecord, sendCall } from "../../demo/load/caller.js";
import type { Call } from "../../demo/load/mix.js";
import type { Callers } from "./scenario.js";

/** What became of one caller, whatever number of tries it took. Times are monotonic ms. */
export interface CallerRecord {
  readonly id: string;
  readonly streamed: boolean;
  readonly startMs: number;
  readonly endMs: number;
  /** Of the try that was served; 0 = never. */
  readonly firstTokenMs: number;
  /** All tokens, a proper end, no error inside. */
  readonly served: boolean;
  readonly tries: number;
  /** What the last try saw when it was not served; "" otherwise. */
  readonly detail: string;
}

/** Tries until it is served or has had enough; never rejects. */
export async function callPatiently(
  port: number,
  agent: Agent,
  call: Call,
  { patienceMs, retries }: Callers,
): Promise<CallerRecord> {
  const startMs = monotonicMs();
  let tries = 0;
  let last: CallRecord;
  do {
    tries++;
    last = await sendCall({ port, agent, patienceMs }, call);
  } while (last.verdict !== "ok" && tries <= retries);
  const served = last.verdict === "ok";
  const { id, streamed, endMs } = last;
  const detail = served ? "" : `${last.verdict}: ${last.detail}`;
  return {
    id,
    streamed,
    startMs,
    endMs,
    firstTokenMs: served ? last.firstTokenMs : 0,
    served,
    tries,
    detail,
  };
}
