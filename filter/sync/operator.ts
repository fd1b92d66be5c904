// Tells in the log when an operator's word begins to hold and when it ends: once in the process, by the leader.
import { Level, log } from "../host/log";
import { sharedCas, writeShared } from "../host/shared-data";
import { modeName } from "../policy/parse-breaker";
import { Backend } from "../policy/policy";
import { readTold, Told } from "./told";

/** Called with each tick of the leader. */
export function logOverride(backend: Backend, now: u64): void {
  const told = readTold(backend);
  const version = told.isForced(now) ? told.overrideVersion : 0;
  const before = told.loggedVersion;
  if (version === before) return;
  told.loggedVersion = version;
  // Whoever was faster has told it, or has news that the next tick will tell.
  if (!writeShared(backend.directiveKey, changetype<usize>(told), told.size, sharedCas())) return;
  if (version !== 0) logBegin(backend, told, now);
  else logEnd(backend, told, now);
}

function logBegin(backend: Backend, told: Told, now: u64): void {
  log(
    Level.WARN,
    'llm.breaker override {"backend":"' +
      backend.alias +
      '","mode":"' +
      modeName(told.mode) +
      '","forMs":' +
      (told.overrideUntilMs - now).toString() +
      by(told) +
      "}",
  );
}

function logEnd(backend: Backend, told: Told, now: u64): void {
  const isTakenBack = told.isOverridden(now);
  log(
    Level.WARN,
    'llm.breaker override {"backend":"' +
      backend.alias +
      '","mode":"' +
      modeName(backend.policyMode) +
      '","ended":"' +
      (isTakenBack ? "withdrawn" : "over") +
      '"' +
      (isTakenBack ? by(told) : "") +
      "}",
  );
}

function by(told: Told): string {
  return ',"who":"' + clean(told.who, told.whoLength) + '","why":"' + clean(told.why, told.whyLength) + '"';
}

/** A text from outside, fit for one line of JSON. */
function clean(ptr: usize, length: i32): string {
  for (let i = 0; i < length; i++) {
    const byte = load<u8>(ptr + i);
    if (byte < 0x20 || byte === 0x7f) store<u8>(ptr + i, 0x20);
    else if (byte === 0x22) store<u8>(ptr + i, 0x27);
    else if (byte === 0x5c) store<u8>(ptr + i, 0x2f);
  }
  return String.UTF8.decodeUnsafe(ptr, length);
}
