import { type Agent, type IncomingMessage, request } from "node:http";
import { monotonicMs } from "../clock.js";
import { answerReader, type Verdict } from "./answer-reader.js";
import type { Call } from "./mix.js";

/** What one caller saw. Times are monotonic ms. */
export interface CallRecord {
  readonly id: string;
  readonly streamed: boolean;
  readonly long: boolean;
  readonly startMs: number;
  readonly endMs: number;
  /** 0 = no answer. */
  readonly status: number;
  /** `x-llm-breaker-backend` of the answer; "" when absent. */
  readonly backend: string;
  /** `x-llm-breaker-attempts` of the answer; 0 when absent. */
  readonly attempts: number;
  /** When the first token came; for an answer in one piece its end. 0 = never. */
  readonly firstTokenMs: number;
  readonly verdict: Verdict;
  /** Why it is no `ok`, in a few words; "" otherwise. */
  readonly detail: string;
}

export interface Target {
  readonly port: number;
  readonly agent: Agent;
  /** A caller that waits longer than this gives up; counted as what it saw until then. */
  readonly patienceMs: number;
}

/** Sends one call and resolves with what came back; it never rejects. */
export function sendCall(target: Target, call: Call): Promise<CallRecord> {
  const startMs = monotonicMs();
  return new Promise((resolve) => {
    const outgoing = request({
      host: "127.0.0.1",
      port: target.port,
      agent: target.agent,
      method: "POST",
      path: call.path,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(call.body),
        authorization: `Bearer ${call.credential}`,
      },
    });
    const finish = (seen: Partial<CallRecord>): void => {
      clearTimeout(patience);
      const { id, streamed, long } = call;
      const none = {
        status: 0,
        backend: "",
        attempts: 0,
        firstTokenMs: 0,
        verdict: "bareFailure",
        detail: "",
      } as const;
      resolve({ id, streamed, long, startMs, endMs: monotonicMs(), ...none, ...seen });
    };
    const patience = setTimeout(() => outgoing.destroy(new Error("patience is over")), target.patienceMs);
    // A reset is told to the request as well, and first: an answer that has begun is judged by what came of it.
    let breakOff = (reason: string): void => finish({ detail: reason });
    outgoing.on("error", (error) => breakOff(error.message));
    outgoing.on("response", (incoming) => {
      breakOff = readAnswer(incoming, finish);
    });
    outgoing.end(call.body);
  });
}

/** @returns what to call when the connection breaks */
function readAnswer(
  incoming: IncomingMessage,
  finish: (seen: Partial<CallRecord>) => void,
): (reason: string) => void {
  const status = incoming.statusCode ?? 0;
  const reader = answerReader(status, incoming.headers["content-type"] ?? "");
  const head = {
    status,
    backend: String(incoming.headers["x-llm-breaker-backend"] ?? ""),
    attempts: Number(incoming.headers["x-llm-breaker-attempts"] ?? 0),
  };
  let firstTokenMs = 0;
  let start = "";
  incoming.on("data", (chunk: Buffer) => {
    if (start.length < 300) start += chunk.toString("latin1", 0, 300);
    if (reader.read(chunk)) firstTokenMs = monotonicMs();
  });
  const end = (whole: boolean, reason: string): void => {
    const verdict = reader.judge(whole);
    if (verdict === "ok" && firstTokenMs === 0) firstTokenMs = monotonicMs();
    const detail = verdict === "ok" ? "" : `${status} ${reason} ${start.slice(0, 200)}`.trim();
    finish({ ...head, firstTokenMs, verdict, detail });
  };
  incoming.on("end", () => end(true, ""));
  incoming.on("error", (error) => end(false, error.message));
  return (reason) => end(false, reason);
}
