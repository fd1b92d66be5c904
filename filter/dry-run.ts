// What the service calls to see what a policy would have done (docs/decisions/0026). Every text is a string of this module's memory:
// UTF-16, its length in bytes in the four bytes before it. One policy in the life of an instance; nothing is ever freed.
import { causeName, stateName } from "./breaker/state";
import { Recorded, Replay } from "./dry-run/replay";
import { noTransition, transitions } from "./dry-run/transitions";
import { parsePolicy } from "./policy/parse-policy";
import { Policy } from "./policy/policy";

let policy: Policy | null = null;
let replay: Replay | null = null;
let faults: string = "";
const recorded = new Recorded();

/** Room for a text of `size` bytes that the caller writes, UTF-8. */
export function allocateText(size: i32): usize {
  return heap.alloc(<usize>max(size, 1));
}

/** Whether the text is a policy that Envoy would take; else {@link errorText} says why not. */
export function parse(ptr: usize, size: i32): bool {
  const errors: string[] = [];
  policy = parsePolicy(String.UTF8.decodeUnsafe(ptr, size), 1, errors);
  faults = errors.join("; ");
  return policy !== null;
}

/** As Envoy's log has it. */
export function errorText(): string {
  return faults;
}

export function policyName(): string {
  const present = policy;
  return present ? present.name : "";
}

export function backendCount(): i32 {
  const present = policy;
  return present ? present.backends.length : 0;
}

export function backendName(index: i32): string {
  const present = policy;
  return present ? present.backends[index].alias : "";
}

/** Starts the replay of one backend: CLOSED, nothing seen. */
export function begin(index: i32): void {
  const present = policy;
  if (!present) return;
  noTransition();
  replay = new Replay(present.backends[index].breaker);
}

/**
 * One second of the record; each one after the other, those without calls too.
 * @param isWell whether the backend would have answered a probe
 */
export function replaySecond(
  calls: u32,
  failures: u32,
  weightedFailures: u32,
  backpressure: u32,
  outOfMemory: u32,
  engineFatal: u32,
  firstTokens: u32,
  slowCalls: u32,
  isWell: bool,
): void {
  const running = replay;
  if (!running) return;
  recorded.calls = calls;
  recorded.failures = min(failures, calls);
  recorded.weightedFailures = weightedFailures;
  recorded.backpressure = backpressure;
  recorded.outOfMemory = outOfMemory;
  recorded.engineFatal = engineFatal;
  recorded.firstTokens = firstTokens;
  recorded.slowCalls = min(slowCalls, firstTokens);
  recorded.isWell = isWell;
  running.second(recorded);
}

/** Recorded calls that the policy would have sent elsewhere. */
export function refusedCalls(): f64 {
  const running = replay;
  return running ? running.refused : 0;
}

/** Those that {@link transitionsAt} has. */
export function transitionCount(): i32 {
  return transitions.count;
}

/** Each is seven i32: milliseconds since the beginning, from, to, stage, cause, openings, wait in milliseconds. */
export function transitionsAt(): usize {
  return transitions.ptr;
}

export function stateText(state: i32): string {
  return stateName(state);
}

export function causeText(cause: i32): string {
  return causeName(cause);
}
