// What the leader tells the service: a `SyncRequest` of proto/llm_breaker/v1/sync.proto, as much of it as fits.
import { BackendRecord } from "../breaker/record";
import { ProtoWriter } from "../bytes/proto-writer";
import { allocate, mark, release } from "../host/arena";
import { flushCounters } from "../host/metrics";
import { resultPtr, resultSize } from "../host/result";
import { Chain } from "../policy/policy";
import { readRecord } from "../records";
import { HEX_SIZE, nodeIdLength, putHex, readNodeId, readProcess } from "./process";
import { putReport } from "./report";
import { readTold } from "./told";
import { Turn } from "./turn";

const BACKENDS: u32 = 7;
const CHAINS: u32 = 8;
const MAX_SIZE: i32 = 1 << 18;
/** A report with two minutes of busy seconds, eight transitions and an operator's long word is below this. */
const MAX_REPORT: i32 = 1 << 13;
const HEAD_SIZE: i32 = 1 << 10;
/** Its name and eight tiers', each below 200 bytes. */
const MAX_CHAIN: i32 = 1 << 11;
/** The service takes no more of them at once. */
const MAX_REPORTS: i32 = 512;
const MAX_CHAINS: i32 = 64;

const writer = new ProtoWriter();

/**
 * Writes the turn's next request to scratch memory; 0 when that is exhausted. What does not fit comes with the next one:
 * the policy's backends are told in turns then.
 */
export function writeRequest(turn: Turn, sequence: u64, asksRestore: bool, now: u64): usize {
  const count = turn.policy.backends.length;
  const chains = min(turn.policy.chains.length, MAX_CHAINS);
  const size = min(HEAD_SIZE + chains * MAX_CHAIN + count * MAX_REPORT, MAX_SIZE);
  const at = allocate(size);
  if (at === 0) return 0;
  flushCounters();
  writer.open(at, size);
  putHead(turn, sequence, asksRestore);
  for (let i = 0; i < chains; i++) putChain(unchecked(turn.policy.chains[i]));
  for (let i = 0; i < min(count, MAX_REPORTS); i++) {
    const place = writer.place;
    if (!putBackend(turn, turn.nextBackend, now)) {
      writer.back(place);
      break;
    }
    turn.nextBackend = turn.nextBackend + 1 < count ? turn.nextBackend + 1 : 0;
  }
  return at;
}

export function requestSize(): i32 {
  return writer.size;
}

function putHead(turn: Turn, sequence: u64, asksRestore: bool): void {
  const policy = turn.policy;
  const top = mark();
  if (readProcess()) writer.bytes(1, resultPtr(), resultSize());
  const node = readNodeId();
  writer.bytes(2, node, nodeIdLength());
  writer.bytes(3, policy.nameText.ptr, policy.nameText.length);
  const hash = allocate(HEX_SIZE);
  if (hash !== 0) {
    putHex(hash, policy.hash);
    writer.bytes(4, hash, HEX_SIZE);
  }
  writer.number(5, sequence);
  writer.flag(6, asksRestore);
  release(top);
}

function putChain(chain: Chain): void {
  const start = writer.begin(CHAINS);
  writer.bytes(1, chain.nameText.ptr, chain.nameText.length);
  for (let i = 0; i < chain.tiers.length; i++) {
    const alias = unchecked(chain.tiers[i]).aliasText;
    writer.bytes(2, alias.ptr, alias.length);
  }
  writer.finish(start);
}

/** False when the report did not fit. */
function putBackend(turn: Turn, index: i32, now: u64): bool {
  const backend = unchecked(turn.policy.backends[index]);
  const top = mark();
  const at = readRecord(backend, now);
  if (at !== 0) {
    const record = changetype<BackendRecord>(at);
    putReport(writer, BACKENDS, backend, record, readTold(backend), now);
    if (!writer.isFull) turn.noteTold(index, record.generation);
  }
  release(top);
  return !writer.isFull;
}
