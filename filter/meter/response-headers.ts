// One walk over a response's headers: the facts that decide, and nothing of ours that a backend may have sent.
import { HeaderMap, Pairs, removeHeaderAt } from "../host/headers";
import { parseDecimal } from "../host/text";
import * as names from "../names";

const pairs: Pairs = new Pairs();

export enum Content {
  OTHER,
  JSON,
  EVENTS,
  /** A page for people. */
  PAGE,
}

/** No Retry-After came. */
export const NOT_TOLD: i32 = -1;
/** It came as something else than seconds, which nobody here reckons with. */
const A_DATE: i32 = -2;
const MOST_SECONDS: i64 = 86400;

/** Facts of the last {@link readResponseHeaders}; -1 = not known. */
export let status: i32 = -1;
export let contentLength: i64 = -1;
export let content: Content = Content.OTHER;
export let isCoded: bool = false;
/** Seconds of Retry-After, or NOT_TOLD, or A_DATE. */
export let retryAfter: i32 = NOT_TOLD;
/** The service has translated, or mapped, the answer. */
export let isAdapted: bool = false;
/** What the engine tells of its load; 0 = nothing. */
export let loadPtr: usize = 0;
export let loadLength: i32 = 0;

export function readResponseHeaders(): void {
  status = -1;
  contentLength = -1;
  content = Content.OTHER;
  isCoded = false;
  retryAfter = NOT_TOLD;
  isAdapted = false;
  loadPtr = 0;
  if (!pairs.readHeaders(HeaderMap.RESPONSE)) return;
  while (pairs.next()) note(pairs.name, pairs.nameLength);
}

function note(name: usize, length: i32): void {
  switch (load<u8>(name)) {
    case 0x3a: // ":"
      if (names.STATUS.equals(name, length)) status = <i32>parseDecimal(pairs.value, pairs.valueLength);
      return;
    case 0x63: // "c"
      noteContent(name, length);
      return;
    case 0x65: // "e"
      if (!names.LOAD_METRICS.equals(name, length)) return;
      loadPtr = pairs.value;
      loadLength = pairs.valueLength;
      return;
    case 0x72: // "r"
      if (!names.RETRY_AFTER.equals(name, length)) return;
      retryAfter = secondsOf(parseDecimal(pairs.value, pairs.valueLength));
      return;
    case 0x78: // "x"
      // A backend may neither force retries, nor forbid them, nor speak in our name.
      if (names.HEADER_PREFIX.isPrefixOf(name, length) || names.RATE_LIMITED.equals(name, length)) {
        if (names.HEADER_ADAPTED.equals(name, length)) isAdapted = true;
        removeHeaderAt(HeaderMap.RESPONSE, name, length);
      }
      return;
    default:
  }
}

function secondsOf(told: i64): i32 {
  return told < 0 ? A_DATE : <i32>min<i64>(told, MOST_SECONDS);
}

function noteContent(name: usize, length: i32): void {
  if (names.CONTENT_TYPE.equals(name, length)) {
    if (names.EVENT_STREAM.beginsIgnoringCase(pairs.value, pairs.valueLength)) content = Content.EVENTS;
    else if (names.APPLICATION_JSON.beginsIgnoringCase(pairs.value, pairs.valueLength))
      content = Content.JSON;
    else if (names.HTML.beginsIgnoringCase(pairs.value, pairs.valueLength)) content = Content.PAGE;
  } else if (names.CONTENT_LENGTH.equals(name, length)) {
    contentLength = parseDecimal(pairs.value, pairs.valueLength);
  } else if (names.CONTENT_ENCODING.equals(name, length)) {
    isCoded = !names.IDENTITY.equals(pairs.value, pairs.valueLength);
  }
}
