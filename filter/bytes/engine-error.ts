import { isDeadEngine, isGpuFault, isOutOfMemory, isOverload } from "./engine-texts";
import { isDigit, isSpace, isWord, skipText, startsWith } from "./text";

/** What an error's message tells of the engine behind it. */
export enum EngineError {
  /** Nothing: a client's fault, a fault of one request, or unknown. */
  NONE,
  /** The engine process is dead or dying; it will not come back by itself. */
  DEAD,
  /** The GPU or its links are at fault; no self-healing. */
  GPU_FAULT,
  /** Out of GPU memory: may be one large request, so only the second in a window opens. */
  OUT_OF_MEMORY,
  /** Alive, but full. */
  OVERLOADED,
}

/** Wrappers that are taken off at most; real ones are nested twice. Keeps the work linear. */
const MAX_WRAPPERS: i32 = 16;

/**
 * Classifies an error's message (never a request body or model text). Texts are matched at the
 * start, after the wrappers that engines put before them, so words that a user's prompt echoes
 * further inside never match; neither does anything that lists validation errors.
 */
export function classifyEngineError(ptr: usize, length: i32): i32 {
  const end = ptr + <usize>max(length, 0);
  let at = ptr;
  for (let i = 0; i <= MAX_WRAPPERS && at < end; i++) {
    const rest = <i32>(end - at);
    if (isValidation(at, end)) return EngineError.NONE;
    if (isDeadEngine(at, rest)) return EngineError.DEAD;
    if (isGpuFault(at, rest)) return EngineError.GPU_FAULT;
    if (isOutOfMemory(at, rest)) return EngineError.OUT_OF_MEMORY;
    if (isOverload(at, rest)) return EngineError.OVERLOADED;
    const next = skipWrapper(at, end);
    if (next === at) return EngineError.NONE;
    at = next;
  }
  return EngineError.NONE;
}

/** `N validation error`: the text behind it is the client's. */
export function isValidation(at: usize, end: usize): bool {
  let digits = at;
  while (digits < end && isDigit(load<u8>(digits))) digits++;
  return digits > at && startsWith(digits, <i32>(end - digits), " validation error");
}

/** Past one wrapper with its colon and blanks, or `at` when there is none. */
function skipWrapper(at: usize, end: usize): usize {
  let from = at;
  while (from < end && isSpace(load<u8>(from))) from++;
  let name = skipName(from, end);
  if (name === from) return at;
  if (name < end && load<u8>(name) === 0x3a) name++;
  let next = name;
  while (next < end && isSpace(load<u8>(next))) next++;
  return next > name ? next : at;
}

function skipName(at: usize, end: usize): usize {
  let next = skipText(at, end, "Internal server error");
  if (next === at) next = skipText(at, end, "Request failed during generation");
  if (next === at) next = skipText(at, end, "Server error");
  if (next === at) next = skipText(at, end, "Generation health check failed");
  if (next === at) next = skipFailedStream(at, end);
  return next === at ? skipExceptionName(at, end) : next;
}

/** `Streaming response failed: [5xx]` */
function skipFailedStream(at: usize, end: usize): usize {
  const status = skipText(at, end, "Streaming response failed: [5");
  if (status === at || status + 3 > end) return at;
  const isStatus =
    isDigit(load<u8>(status)) && isDigit(load<u8>(status + 1)) && load<u8>(status + 2) === 0x5d;
  return isStatus ? status + 3 : at;
}

/** `RuntimeError`, `some.module.SomeException`: the last part is capitalised and ends so. */
function skipExceptionName(at: usize, end: usize): usize {
  let to = at;
  let part = at;
  while (to < end) {
    const byte = load<u8>(to);
    if (byte === 0x2e) part = to + 1;
    else if (!isWord(byte)) break;
    to++;
  }
  // A dot needs a module before it.
  if (part === at + 1) return at;
  const length = <i32>(to - part);
  if (length === 0 || load<u8>(part) - 0x41 >= 26) return at;
  const isName =
    (length > 5 && startsWith(to - 5, 5, "Error")) || (length > 9 && startsWith(to - 9, 9, "Exception"));
  return isName ? to : at;
}
