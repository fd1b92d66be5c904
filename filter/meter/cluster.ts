// What the chosen cluster's metadata asks of an attempt, read in one host call. Valid until the callback ends.
import { PathRule } from "../bytes/request-path";
import { Pairs } from "../host/headers";
import { readProperty } from "../host/properties";
import { resultPtr, resultSize } from "../host/result";
import { Text } from "../host/text";
import * as names from "../names";

const BACKEND = Text.of("backend");
const CREDENTIALS = Text.of("credentials");
const HOST = Text.of("host");
const PATH = Text.of("path");
const PATH_PREFIX = Text.of("pathPrefix");
const QUERY = Text.of("query");
const DIALECT = Text.of("dialect");
const DEGRADED = Text.of("degraded");
const LOAD_METRICS = Text.of("loadMetrics");
const OWN = Text.of("own");
const TEXT = Text.of("text");
const JSON_FORMAT = Text.of("json");
/** What the service goes by. */
const REWRITING: StaticArray<Text> = [
  DIALECT,
  Text.of("model"),
  Text.of("maxOutputTokens"),
  Text.of("outputTokensField"),
  Text.of("remove"),
  Text.of("rename"),
  Text.of("includeUsage"),
  Text.of("answerModel"),
  Text.of("degradedMaxOutputTokens"),
  Text.of("degradedRemove"),
];

const pairs: Pairs = new Pairs();

export let aliasPtr: usize = 0;
export let aliasLength: i32 = 0;
export let hostPtr: usize = 0;
export let hostLength: i32 = 0;
export const path: PathRule = new PathRule();
/** The backend has credentials of its own: nothing of the caller's goes there. */
export let hasOwnCredentials: bool = false;
/** The body is rewritten on the way, so that the guard stands there too. */
export let isRewritten: bool = false;
/** The backend speaks another dialect: its answers are translated on the way back. */
export let isTranslated: bool = false;
/** Some rewriting depends on how the backend fares. */
export let isDegradable: bool = false;
/** The form in which the engine is asked to tell of its load with each answer; it is not when there is none. */
export let loadFormatPtr: usize = 0;
export let loadFormatLength: i32 = 0;
/** A key that nobody knows, or one with a value that is none of its own: most likely misspelt. */
export let oddPtr: usize = 0;
export let oddLength: i32 = 0;

export function readCluster(): void {
  aliasLength = 0;
  hostLength = 0;
  hasOwnCredentials = false;
  isRewritten = false;
  isTranslated = false;
  isDegradable = false;
  loadFormatLength = 0;
  oddLength = 0;
  path.clear();
  if (readProperty(names.PROPERTY_CLUSTER_METADATA)) {
    pairs.open(resultPtr(), resultSize());
    while (pairs.next()) note(pairs.name, pairs.nameLength);
    path.dropsQuery = hasOwnCredentials;
  }
  if (aliasLength === 0 && readProperty(names.PROPERTY_CLUSTER_NAME)) {
    aliasPtr = resultPtr();
    aliasLength = resultSize();
  }
}

function note(name: usize, length: i32): void {
  const value = pairs.value;
  const valueLength = pairs.valueLength;
  if (BACKEND.equals(name, length)) {
    aliasPtr = value;
    aliasLength = valueLength;
  } else if (HOST.equals(name, length)) {
    hostPtr = value;
    hostLength = valueLength;
  } else if (PATH.equals(name, length)) {
    path.path = value;
    path.pathLength = valueLength > 0 ? valueLength : -1;
  } else if (PATH_PREFIX.equals(name, length)) {
    path.prefix = value;
    path.prefixLength = valueLength;
  } else if (QUERY.equals(name, length)) {
    path.query = value;
    path.queryLength = valueLength;
  } else if (CREDENTIALS.equals(name, length)) {
    hasOwnCredentials = OWN.equals(value, valueLength);
    if (!hasOwnCredentials) noteOdd(name, length);
  } else if (LOAD_METRICS.equals(name, length)) {
    noteLoadFormat();
  } else noteRewriting(name, length);
}

/** Engines differ in the letter case that they take it in: it goes to them as it stands. */
function noteLoadFormat(): void {
  const isText = TEXT.beginsIgnoringCase(pairs.value, pairs.valueLength);
  if (
    pairs.valueLength !== TEXT.length ||
    !(isText || JSON_FORMAT.beginsIgnoringCase(pairs.value, TEXT.length))
  ) {
    noteOdd(pairs.name, pairs.nameLength);
    return;
  }
  loadFormatPtr = pairs.value;
  loadFormatLength = pairs.valueLength;
}

function noteRewriting(name: usize, length: i32): void {
  if (!isRewriting(name, length)) noteOdd(name, length);
  if (DEGRADED.isPrefixOf(name, length)) isDegradable = true;
  else {
    isRewritten = true;
    if (DIALECT.equals(name, length)) isTranslated = true;
  }
}

function isRewriting(name: usize, length: i32): bool {
  for (let i = 0; i < REWRITING.length; i++) {
    if (unchecked(REWRITING[i]).equals(name, length)) return true;
  }
  return false;
}

function noteOdd(name: usize, length: i32): void {
  oddPtr = name;
  oddLength = length;
}
