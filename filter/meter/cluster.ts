// What a cluster asks of an attempt at it: by its meter's own configuration, which is read once, or else by the cluster's metadata,
// which each attempt reads, at the price of a host call that hands over a value (docs/decisions/0041).
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

/** What one cluster asks. Bytes belong to whoever fills it. */
@final
export class ClusterRules {
  aliasPtr: usize = 0;
  aliasLength: i32 = 0;
  hostPtr: usize = 0;
  hostLength: i32 = 0;
  readonly path: PathRule = new PathRule();
  /** The backend has credentials of its own: nothing of the caller's goes there. */
  hasOwnCredentials: bool = false;
  /** The body is rewritten on the way, so that the guard stands there too. */
  isRewritten: bool = false;
  /** The backend speaks another dialect: its answers are translated on the way back. */
  isTranslated: bool = false;
  /** Some rewriting depends on how the backend fares. */
  isDegradable: bool = false;
  /** The form in which the engine is asked to tell of its load with each answer; it is not when there is none. */
  loadFormatPtr: usize = 0;
  loadFormatLength: i32 = 0;
  /** A key that nobody knows, or one with a value that is none of its own: most likely misspelt. */
  oddPtr: usize = 0;
  oddLength: i32 = 0;

  clear(): void {
    this.aliasLength = 0;
    this.hostLength = 0;
    this.hasOwnCredentials = false;
    this.isRewritten = false;
    this.isTranslated = false;
    this.isDegradable = false;
    this.loadFormatLength = 0;
    this.oddLength = 0;
    this.path.clear();
  }

  note(name: usize, length: i32, value: usize, valueLength: i32): void {
    if (BACKEND.equals(name, length)) {
      this.aliasPtr = value;
      this.aliasLength = valueLength;
    } else if (HOST.equals(name, length)) {
      this.hostPtr = value;
      this.hostLength = valueLength;
    } else if (PATH.equals(name, length)) {
      this.path.path = value;
      this.path.pathLength = valueLength > 0 ? valueLength : -1;
    } else if (PATH_PREFIX.equals(name, length)) {
      this.path.prefix = value;
      this.path.prefixLength = valueLength;
    } else if (QUERY.equals(name, length)) {
      this.path.query = value;
      this.path.queryLength = valueLength;
    } else if (CREDENTIALS.equals(name, length)) {
      this.hasOwnCredentials = OWN.equals(value, valueLength);
      this.path.dropsQuery = this.hasOwnCredentials;
      if (!this.hasOwnCredentials) this.noteOdd(name, length);
    } else if (LOAD_METRICS.equals(name, length)) {
      if (isLoadFormat(value, valueLength)) {
        this.loadFormatPtr = value;
        this.loadFormatLength = valueLength;
      } else this.noteOdd(name, length);
    } else this.noteRewriting(name, length);
  }

  private noteRewriting(name: usize, length: i32): void {
    if (!isRewriting(name, length)) this.noteOdd(name, length);
    if (DEGRADED.isPrefixOf(name, length)) this.isDegradable = true;
    else {
      this.isRewritten = true;
      if (DIALECT.equals(name, length)) this.isTranslated = true;
    }
  }

  private noteOdd(name: usize, length: i32): void {
    this.oddPtr = name;
    this.oddLength = length;
  }
}

const pairs: Pairs = new Pairs();
const told: ClusterRules = new ClusterRules();

/** Of the present attempt, until the callback ends. */
export let asked: ClusterRules = told;

/** @param configured what the meter was told of its cluster, if it was: then nothing is read */
export function readCluster(configured: ClusterRules | null): void {
  if (configured) {
    asked = configured;
    return;
  }
  asked = told;
  told.clear();
  if (readProperty(names.PROPERTY_CLUSTER_METADATA)) {
    pairs.open(resultPtr(), resultSize());
    while (pairs.next()) told.note(pairs.name, pairs.nameLength, pairs.value, pairs.valueLength);
  }
  if (told.aliasLength === 0 && readProperty(names.PROPERTY_CLUSTER_NAME)) {
    told.aliasPtr = resultPtr();
    told.aliasLength = resultSize();
  }
}

/** Engines differ in the letter case that they take it in: it goes to them as it stands. */
function isLoadFormat(value: usize, length: i32): bool {
  if (length !== TEXT.length) return false;
  return TEXT.beginsIgnoringCase(value, length) || JSON_FORMAT.beginsIgnoringCase(value, length);
}

function isRewriting(name: usize, length: i32): bool {
  for (let i = 0; i < REWRITING.length; i++) {
    if (unchecked(REWRITING[i]).equals(name, length)) return true;
  }
  return false;
}
