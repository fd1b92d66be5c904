import { blankReport, NO_COUNTERS, NO_WINDOW } from "../sync/blank.js";
import type {
  BackendReport,
  Chain,
  Counters,
  Latency,
  Load,
  Override,
  Second,
  SyncRequest,
  Transition,
  Window,
} from "../sync/contract.js";
import { type Fields, flag, int, listUpTo, long, message, readInto, textsUpTo, textUpTo } from "./fields.js";
import { Reader, WireError } from "./reader.js";
import { causeOf, modeOf, stateOf } from "./sync-names.js";

/** What bounds a message; one with more is no message of ours. */
export const MAX_BACKENDS = 512;
const MAX_SECONDS = 120;
const MAX_TRANSITIONS = 8;
const MAX_CHAINS = 64;
const MAX_TIERS = 16;
const MAX_NAME_BYTES = 256;

const name = textUpTo(MAX_NAME_BYTES);
/** An operator's who and why. */
const words = textUpTo(1024);
const state = (reader: Reader) => stateOf(reader.number());
const mode = (reader: Reader) => modeOf(reader.number());
const cause = (reader: Reader) => causeOf(int(reader));

const OVERRIDE: Fields<Override> = {
  1: ["mode", mode],
  2: ["remainingMs", long],
  3: ["version", long],
  4: ["isWithdrawn", flag],
  5: ["who", words],
  6: ["why", words],
};

const WINDOW: Fields<Window> = {
  1: ["calls", int],
  2: ["failures", int],
  3: ["weightedFailures", int],
  4: ["backpressure", int],
  5: ["outOfMemory", int],
  6: ["firstTokens", int],
  7: ["slowCalls", int],
  8: ["consecutiveFailures", int],
};

const SECOND: Fields<Second> = {
  1: ["ageMs", long],
  2: ["calls", int],
  3: ["failures", int],
  4: ["weightedFailures", int],
  5: ["backpressure", int],
  6: ["outOfMemory", int],
  7: ["firstTokens", int],
  8: ["slowCalls", int],
};

const TRANSITION: Fields<Transition> = {
  1: ["generation", int],
  2: ["from", state],
  3: ["to", state],
  4: ["stage", int],
  5: ["cause", cause],
  6: ["openings", int],
  7: ["ageMs", long],
  8: ["waitMs", long],
  9: ["calls", int],
  10: ["weightedFailures", int],
  11: ["consecutiveFailures", int],
};

const COUNTERS: Fields<Counters> = {
  1: ["permitted", long],
  2: ["refused", long],
  3: ["limited", long],
  4: ["shed", long],
  5: ["diverted", long],
  6: ["success", long],
  7: ["failure", long],
  8: ["backpressure", long],
  9: ["neutral", long],
  10: ["late", long],
  11: ["canaries", long],
  12: ["probes", long],
  13: ["opened", long],
};

/** 0 means not told; anything else is one more than the value. */
interface WireLoad {
  readonly kvCacheUse: number;
  readonly waiting: number;
  readonly ageMs: number;
}

const LOAD: Fields<WireLoad> = { 1: ["kvCacheUse", int], 2: ["waiting", int], 3: ["ageMs", long] };

const LATENCY: Fields<Latency> = {
  1: ["samples", int],
  2: ["p50Ms", int],
  3: ["p99Ms", int],
  4: ["judgedPercentile", int],
  5: ["judgedMs", int],
  6: ["baselineMs", int],
};

const CHAIN: Fields<Chain> = { 1: ["name", name], 2: ["tiers", textsUpTo(MAX_TIERS, MAX_NAME_BYTES)] };

const REPORT: Fields<BackendReport> = {
  1: ["name", name],
  2: ["state", state],
  3: ["stage", int],
  4: ["generation", int],
  5: ["openings", int],
  6: ["cause", cause],
  7: ["stateAgeMs", long],
  8: ["waitRemainingMs", long],
  9: ["isEvidence", flag],
  10: ["track", long],
  11: ["mode", mode],
  12: ["policyMode", mode],
  13: ["override", message(readOverride)],
  14: ["window", message(readWindow)],
  15: ["seconds", listUpTo(MAX_SECONDS, readSecond)],
  16: ["transitions", listUpTo(MAX_TRANSITIONS, readTransition)],
  17: ["livePermits", int],
  18: ["stageCap", int],
  19: ["probeLeaseMs", int],
  20: ["probeTimeoutMs", int],
  21: ["counters", message(readCounters)],
  22: ["load", message(readLoad)],
  23: ["latency", message(readLatency)],
};

const REQUEST: Fields<SyncRequest> = {
  1: ["process", name],
  2: ["node", name],
  3: ["policy", name],
  4: ["policyHash", name],
  5: ["sequence", long],
  6: ["asksRestore", flag],
  7: ["backends", listUpTo(MAX_BACKENDS, readReport)],
  8: ["chains", listUpTo(MAX_CHAINS, readChain)],
};

/**
 * What a gateway tells.
 * @throws WireError for bytes that are no such message, or one above its bounds.
 */
export function readSyncRequest(bytes: Buffer): SyncRequest {
  const request = readInto<SyncRequest>(
    {
      process: "",
      node: "",
      policy: "",
      policyHash: "",
      sequence: 0,
      asksRestore: false,
      backends: [],
      chains: [],
    },
    new Reader(bytes),
    REQUEST,
  );
  if (request.process === "") throw new WireError("process is missing");
  return request;
}

function readReport(reader: Reader): BackendReport {
  const report = readInto<BackendReport>(blankReport(""), reader, REPORT);
  if (report.name === "") throw new WireError("a backend has no name");
  return report;
}

function readChain(reader: Reader): Chain {
  const chain = readInto<Chain>({ name: "", tiers: [] }, reader, CHAIN);
  if (chain.name === "") throw new WireError("a chain has no name");
  return chain;
}

function readOverride(reader: Reader): Override {
  return readInto<Override>(
    { mode: "enforce", remainingMs: 0, version: 0, isWithdrawn: false, who: "", why: "" },
    reader,
    OVERRIDE,
  );
}

function readWindow(reader: Reader): Window {
  return readInto<Window>({ ...NO_WINDOW }, reader, WINDOW);
}

function readSecond(reader: Reader): Second {
  const { consecutiveFailures, ...figures } = NO_WINDOW;
  return readInto<Second>({ ageMs: 0, ...figures }, reader, SECOND);
}

function readTransition(reader: Reader): Transition {
  return readInto<Transition>(
    {
      generation: 0,
      from: "CLOSED",
      to: "CLOSED",
      stage: 0,
      cause: "NONE",
      openings: 0,
      ageMs: 0,
      waitMs: 0,
      calls: 0,
      weightedFailures: 0,
      consecutiveFailures: 0,
    },
    reader,
    TRANSITION,
  );
}

function readCounters(reader: Reader): Counters {
  return readInto<Counters>({ ...NO_COUNTERS }, reader, COUNTERS);
}

function readLoad(reader: Reader): Load {
  const { kvCacheUse, waiting, ageMs } = readInto<WireLoad>(
    { kvCacheUse: 0, waiting: 0, ageMs: 0 },
    reader,
    LOAD,
  );
  return {
    ...(kvCacheUse > 0 && { kvCacheUse: (kvCacheUse - 1) / 1000 }),
    ...(waiting > 0 && { waiting: waiting - 1 }),
    ageMs,
  };
}

function readLatency(reader: Reader): Latency {
  return readInto<Latency>(
    { samples: 0, p50Ms: 0, p99Ms: 0, judgedPercentile: 0, judgedMs: 0, baselineMs: 0 },
    reader,
    LATENCY,
  );
}
