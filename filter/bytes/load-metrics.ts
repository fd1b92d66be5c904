// `endpoint-load-metrics`, the header in which engines tell of their load (ORCA):
//
//   TEXT named_metrics.kv_cache_usage_perc=0.4, named_metrics.num_requests_waiting=3.0
//   JSON {"named_metrics":{"kv_cache_usage_perc":0.4,"num_requests_waiting":3.0}}
//
// Both are read as names, each with a number behind its `=` or `:`; whatever else there is says nothing. O(bytes), in one pass.
import { isDigit, isSpace, skipIgnoreCase, startsWith } from "./text";

/** A longer header is not believed. */
const MAX_BYTES: i32 = 4096;
const MOST_WAITING: f64 = 1000000;
const THOUSAND: f64 = 1000;
/** Digits that a 64-bit float tells apart. */
const MAX_DIGITS: i32 = 15;
const MAX_EXPONENT: i32 = 30;

const QUOTE: u8 = 0x22;
const DOT: u8 = 0x2e;
const EQUALS: u8 = 0x3d;
const COLON: u8 = 0x3a;
const COMMA: u8 = 0x2c;
const CLOSE_OBJECT: u8 = 0x7d;

/** 1 + thousandths of the KV cache in use, by the last {@link readLoadMetrics}; 0 = not told. The worst, if there are several. */
export let toldKvCacheUse: u32 = 0;
/** 1 + requests that wait for the engine; 0 = not told. */
export let toldWaiting: u32 = 0;

export function readLoadMetrics(ptr: usize, length: i32): void {
  toldKvCacheUse = 0;
  toldWaiting = 0;
  if (length > MAX_BYTES) return;
  const end = ptr + <usize>length;
  const isText = skipIgnoreCase(ptr, end, "TEXT ") > ptr;
  if (!isText && skipIgnoreCase(ptr, end, "JSON ") === ptr) return;
  const sign = isText ? EQUALS : COLON;
  let nameStart = ptr + 5;
  let nameEnd = nameStart;
  for (let at = nameStart; at < end; at++) {
    const byte = load<u8>(at);
    if (byte === sign) {
      if (nameEnd > nameStart) note(nameStart, <i32>(nameEnd - nameStart), at + 1, end);
      nameStart = at + 1;
      nameEnd = nameStart;
    } else if (isNamePart(byte)) {
      // Behind a gap another name begins.
      if (nameEnd !== at) nameStart = at;
      nameEnd = at + 1;
    } else if (!isSpace(byte) && byte !== QUOTE) {
      nameStart = at + 1;
      nameEnd = nameStart;
    }
  }
}

/** Letters, digits and underscores: what stands before a dot is the family, which says nothing. */
function isNamePart(byte: u8): bool {
  return isDigit(byte) || byte === 0x5f || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a);
}

function note(name: usize, length: i32, value: usize, end: usize): void {
  const isKv = isKvCacheUse(name, length);
  if (!isKv && !isWaiting(name, length)) return;
  const number = numberAt(value, end);
  if (isNaN(number)) return;
  if (isKv) {
    if (number <= 1) toldKvCacheUse = max(toldKvCacheUse, 1 + <u32>(number * THOUSAND + 0.000001));
  } else toldWaiting = max(toldWaiting, 1 + <u32>min(number, MOST_WAITING));
}

function isKvCacheUse(name: usize, length: i32): bool {
  return (
    is(name, length, "kv_cache_usage_perc") ||
    is(name, length, "gpu_cache_usage_perc") ||
    is(name, length, "kv_cache_utilization") ||
    is(name, length, "kv_cache_use")
  );
}

function isWaiting(name: usize, length: i32): bool {
  return is(name, length, "num_requests_waiting") || is(name, length, "waiting");
}

function is(name: usize, length: i32, text: string): bool {
  return length === text.length && startsWith(name, length, text);
}

/** The whole value, if it is one number from 0 on; else NaN: a sign, a word, or something behind it. */
function numberAt(at: usize, end: usize): f64 {
  while (at < end && isSpace(load<u8>(at))) at++;
  let value: f64 = 0;
  let digits = 0;
  let exponent = 0;
  let hasPoint = false;
  let hasDigit = false;
  for (; at < end; at++) {
    const byte = load<u8>(at);
    if (byte === DOT && !hasPoint) hasPoint = true;
    else if (isDigit(byte)) {
      hasDigit = true;
      if (digits === MAX_DIGITS) {
        if (!hasPoint) exponent++;
        continue;
      }
      value = value * 10 + <f64>(byte - 0x30);
      if (value > 0) digits++;
      if (hasPoint) exponent--;
    } else break;
  }
  if (!hasDigit) return NaN;
  if (at < end && (load<u8>(at) | 0x20) === 0x65) {
    let sign = 1;
    let told = 0;
    at++;
    if (at < end && (load<u8>(at) === 0x2d || load<u8>(at) === 0x2b)) sign = load<u8>(at++) === 0x2d ? -1 : 1;
    const first = at;
    while (at < end && isDigit(load<u8>(at))) told = min(told * 10 + <i32>(load<u8>(at++) - 0x30), 10000);
    if (at === first) return NaN;
    exponent += sign * told;
  }
  return isValueEnd(at, end) ? scaled(value, exponent) : NaN;
}

function isValueEnd(at: usize, end: usize): bool {
  while (at < end && isSpace(load<u8>(at))) at++;
  return at === end || load<u8>(at) === COMMA || load<u8>(at) === CLOSE_OBJECT;
}

function scaled(value: f64, exponent: i32): f64 {
  let steps = min(abs(exponent), MAX_EXPONENT + MAX_DIGITS);
  for (; steps > 0; steps--) value = exponent < 0 ? value / 10 : value * 10;
  return value;
}
