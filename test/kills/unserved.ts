// Who got no whole answer, and the kill that explains it.
import type { Accessed } from "./access-log.js";
import { stallTimeoutMs } from "./gateway-config.js";
import type { Strike } from "./strikes.js";
import type { Letter } from "./system.js";
import type { Call } from "./traffic.js";

/** What hit the caller's own process or stream. */
export type Reason =
  | "its backend was killed"
  | "its backend was stopped"
  | "its gateway was killed"
  | "its gateway was stopped"
  | "its VM trapped"
  | "its VM was not back yet";

export interface Unserved {
  readonly call: Call;
  readonly letter: Letter;
  /** Undefined: nothing explains it. */
  readonly reason: Reason | undefined;
}

/** What is sent at the moment of a kill. */
const momentMs = 300;
/** Envoy closes a connection whose answer broke off a second later: `delayed_close_timeout`. */
const noticedMs = 1_500;
/** Envoy makes a new VM for the first request that comes 10 ms after the trap, or a little more. */
const reloadMs = 500;

export function unservedOf(
  letter: Letter,
  calls: readonly Call[],
  strikes: readonly Strike[],
  accessed: ReadonlyMap<string, Accessed>,
): Unserved[] {
  const failed = calls.filter(({ verdict }) => verdict !== "ok");
  return failed.map((call) => {
    const reason = strikes.map((strike) => reasonOf(letter, call, strike, accessed)).find(Boolean);
    return { call, letter, reason };
  });
}

function reasonOf(
  letter: Letter,
  call: Call,
  strike: Strike,
  accessed: ReadonlyMap<string, Accessed>,
): Reason | undefined {
  if (strike.act === "trap") return letter === "a" ? reasonOfTrap(call, strike, accessed) : undefined;
  const wasUnderWay = call.startMs <= strike.doneMs + momentMs && call.endMs >= strike.atMs;
  if (!wasUnderWay) return undefined;
  const isStop = strike.act === "stop";
  if (call.endMs > endOf(strike) + noticedMs) return undefined;
  if (strike.victim === `gateway-${letter}`)
    return isStop ? "its gateway was stopped" : "its gateway was killed";
  if (strike.victim !== call.backend || call.verdict !== "brokenStream") return undefined;
  return isStop ? "its backend was stopped" : "its backend was killed";
}

/** A kill is noticed at once; who is stopped is missed after a while, or when it goes on. */
function endOf({ act, doneMs, endMs }: Strike): number {
  return act === "stop" ? Math.max(endMs, doneMs + stallTimeoutMs) : doneMs;
}

/** A trap takes all streams of its worker, whose gate's VM the access log names. */
function reasonOfTrap(
  call: Call,
  { atMs, doneMs, credential = "" }: Strike,
  accessed: ReadonlyMap<string, Accessed>,
): Reason | undefined {
  const own = accessed.get(call.credential);
  const trapped = accessed.get(credential);
  if (!own || !trapped || call.endMs < atMs || call.startMs > doneMs + reloadMs) return undefined;
  if (own.vm === trapped.vm && call.startMs <= doneMs) return "its VM trapped";
  return own.details === "wasm_fail_stream" ? "its VM was not back yet" : undefined;
}
