// The parsers of texts that come whole: messages of errors, headers, paths, names.
import {
  BodyRules,
  feedMatcher,
  MATCHER_SIZE,
  matchedRule,
  resetMatcher,
} from "../../../filter/bytes/body-rules";
import { classifyEngineError } from "../../../filter/bytes/engine-error";
import { kindOfText, kindOfWord } from "../../../filter/bytes/error-kind";
import { fitsGlob } from "../../../filter/bytes/glob";
import { writeJsonText } from "../../../filter/bytes/json-text";
import { readLoadMetrics, toldKvCacheUse, toldWaiting } from "../../../filter/bytes/load-metrics";
import { PathRule, pathRoom, writePath } from "../../../filter/bytes/request-path";
import { parseDecimal } from "../../../filter/bytes/text";
import { Pairs } from "../../../filter/host/headers";
import { guarded, isIntact } from "./guard-words";
import { roomAt } from "./guarded";

const matcher = guarded(MATCHER_SIZE);
const rule = new PathRule();
const pairs = new Pairs();
let rules = new BodyRules([]);

/** The classes of an error's message and of a word, one byte each. */
export function classes(ptr: usize, length: i32): i32 {
  return classifyEngineError(ptr, length) | (kindOfText(ptr, length) << 8) | (kindOfWord(ptr, length) << 16);
}

export function fits(pattern: usize, patternLength: i32, text: usize, length: i32): bool {
  return fitsGlob(pattern, patternLength, text, length);
}

/** 1 + thousandths of the cache, or 0. */
export function loadMetrics(ptr: usize, length: i32): u32 {
  readLoadMetrics(ptr, length);
  return toldKvCacheUse;
}

export function loadWaiting(): u32 {
  return toldWaiting;
}

export function decimal(ptr: usize, length: i32): i32 {
  return parseDecimal(ptr, length);
}

/** Writes into the room; bytes written. */
export function jsonText(ptr: usize, length: i32): i32 {
  return writeJsonText(roomAt(), ptr, length);
}

/** A length below 0: not asked. Writes into the room; bytes written, or -1 when more than announced. */
export function composePath(
  caller: usize,
  callerLength: i32,
  pathLength: i32,
  prefixLength: i32,
  queryLength: i32,
  dropsQuery: bool,
  parts: usize,
): i32 {
  rule.path = parts;
  rule.pathLength = pathLength;
  rule.prefix = parts + <usize>max(pathLength, 0);
  rule.prefixLength = prefixLength;
  rule.query = rule.prefix + <usize>max(prefixLength, 0);
  rule.queryLength = queryLength;
  rule.dropsQuery = dropsQuery;
  const written = writePath(roomAt(), rule, caller, callerLength);
  return written > pathRoom(rule, callerLength) ? -1 : written;
}

/** Texts divided by NUL. */
export function setRules(ptr: usize, length: i32): void {
  rules = new BodyRules(String.UTF8.decodeUnsafe(ptr, length).split("\0"));
}

export function rulesReset(): void {
  resetMatcher(matcher);
}

export function rulesFeed(ptr: usize, length: i32): i32 {
  feedMatcher(rules, matcher, ptr, length);
  return isIntact(matcher, MATCHER_SIZE) ? matchedRule(matcher) : -2;
}

/** Bytes of all names and values of marshalled pairs, each read; 0 for bytes that are none. */
export function walkPairs(ptr: usize, length: i32): u32 {
  let sum: u32 = 0;
  pairs.open(ptr, length);
  while (pairs.next()) {
    sum += touch(pairs.name, pairs.nameLength, ptr, length);
    sum += touch(pairs.value, pairs.valueLength, ptr, length);
  }
  return sum;
}

/** Every byte must be one of those that were given. */
function touch(ptr: usize, size: i32, from: usize, length: i32): u32 {
  if (ptr < from || <u64>ptr + <u64>(<u32>size) > <u64>from + length) unreachable();
  return <u32>size;
}
