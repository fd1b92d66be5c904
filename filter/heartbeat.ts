// Whether our own service lives. One elected VM asks it each second; all read the answer from shared data. Tiers whose
// body must be rewritten are skipped while it is away, so that no backend gets a request made for another one.
import { listHas } from "./bytes/name-list";
import { allocate } from "./host/arena";
import { nowMs, secret64 } from "./host/clock";
import { HeaderMap, readHeader } from "./host/headers";
import { httpCall } from "./host/http-call";
import { Level, log } from "./host/log";
import { finishPairs, pairsSize, putText, startPairs } from "./host/pairs-writer";
import { resultPtr, resultSize } from "./host/result";
import { createShared, readShared, sharedCas, writeShared } from "./host/shared-data";
import { Text } from "./host/text";
import { AUTHORITY, HEADER_DEGRADE, KEY_LEADER, KEY_SERVICE, METHOD, PATH, STATUS } from "./names";
import { Policy } from "./policy/policy";

const PERIOD_MS: u64 = 1000;
const CALL_TIMEOUT_MS: u32 = 800;
const STALE_AFTER_MS: u64 = 3000;
const LOST_AFTER_MS: u64 = 30000;
const LEASE_MS: u64 = 2500;
const REFRESH_MS: u64 = 200;
const LEASE_SIZE: i32 = 16;
/** A queue moves on: after so long nothing is known of it. */
const QUEUE_STALE_AFTER_MS: u64 = 5000;
const SEEN_SIZE: i32 = 8;
/** A longer list is not believed. */
const MAX_LIST: i32 = 512;

const GET = Text.of("GET");
const HEALTH_PATH = Text.of("/healthz");
const SERVICE = Text.of("llm-breaker-service");
const EMPTY = Text.of("");

let self: u64 = 0;
let call: u32 = 0;
let nextBeatMs: u64 = 0;
let lastSeenMs: u64 = 0;
/** Backends whose engines have long queues, as the service has told last. */
const queued: usize = heap.alloc(MAX_LIST);
let queuedLength: i32 = 0;
let readAtMs: u64 = 0;
let startedMs: u64 = 0;
let wasUp: bool = true;

/** True when the service answered lately, or when the policy names none; unknown counts as up at the very start. */
export function isServiceUp(policy: Policy): bool {
  return !policy.serviceCluster || silentForMs() < STALE_AFTER_MS;
}

/** True when no count has been to be had for so long that a recovery may not wait for one any more. */
export function isServiceLost(policy: Policy): bool {
  return policy.serviceCluster != null && silentForMs() >= LOST_AFTER_MS;
}

/** Whether the engine behind a backend has a long queue, by the service's last healthy word. */
export function isQueueLong(backend: Text, now: u64): bool {
  refresh(now);
  if (queuedLength === 0 || now >= lastSeenMs + QUEUE_STALE_AFTER_MS) return false;
  return listHas(queued, queuedLength, backend.ptr, backend.length);
}

/** What the leader heard, read from shared data at most five times a second. */
function refresh(now: u64): void {
  if (now - readAtMs < REFRESH_MS) return;
  readAtMs = now;
  if (!readShared(KEY_SERVICE) || resultSize() < SEEN_SIZE) return;
  lastSeenMs = load<u64>(resultPtr());
  queuedLength = min(resultSize() - SEEN_SIZE, MAX_LIST);
  memory.copy(queued, resultPtr() + SEEN_SIZE, queuedLength);
}

function silentForMs(): u64 {
  const now = nowMs();
  if (startedMs === 0) startedMs = now;
  refresh(now);
  const seen = max<u64>(lastSeenMs, startedMs);
  return now > seen ? now - seen : 0;
}

/** Called on each tick of a gate's root: renews the leader's lease and asks for the service's health when it is ours. */
export function beat(policy: Policy, now: u64): void {
  const cluster = policy.serviceCluster;
  if (!cluster || now < nextBeatMs || !isLeader(now)) return;
  nextBeatMs = now + PERIOD_MS;
  tellOfService(policy, isServiceUp(policy));
  startPairs();
  putText(METHOD, GET);
  putText(PATH, HEALTH_PATH);
  putText(AUTHORITY, SERVICE);
  const headers = finishPairs();
  if (headers !== 0) call = httpCall(cluster, headers, pairsSize(), EMPTY, CALL_TIMEOUT_MS);
}

/** Only the leader tells, so that it is told once. */
function tellOfService(policy: Policy, isUp: bool): void {
  if (isUp === wasUp) return;
  wasUp = isUp;
  const cluster = policy.serviceCluster;
  const service = "llm.breaker: the service" + (cluster ? " (cluster " + cluster.toString() + ")" : "");
  log(
    Level.WARN,
    isUp
      ? service + " answers again"
      : service + " is silent: tiers with rewritesBody are skipped, no request is a canary by count",
  );
}

/** Takes the answer of a beat; false when the call was not one. */
export function onBeat(token: u32): bool {
  if (token === 0 || token !== call) return false;
  call = 0;
  const isOk =
    readHeader(HeaderMap.CALL_RESPONSE, STATUS) && resultSize() === 3 && load<u8>(resultPtr()) === 0x32;
  if (!isOk) return true;
  const hasList = readHeader(HeaderMap.CALL_RESPONSE, HEADER_DEGRADE) && resultSize() <= MAX_LIST;
  const length = hasList ? resultSize() : 0;
  const list = resultPtr();
  const value = allocate(SEEN_SIZE + length);
  if (value === 0) return true;
  store<u64>(value, nowMs());
  memory.copy(value + SEEN_SIZE, list, length);
  writeShared(KEY_SERVICE, value, SEEN_SIZE + length, 0);
  return true;
}

/** One VM of the process at a time: a lease {holder, end} that a hung or removed VM loses. */
function isLeader(now: u64): bool {
  if (self === 0) self = secret64() | 1;
  const lease = allocate(LEASE_SIZE);
  if (lease === 0) return false;
  store<u64>(lease, self);
  store<u64>(lease, now + LEASE_MS, 8);
  if (!readShared(KEY_LEADER)) return createShared(KEY_LEADER, lease, LEASE_SIZE);
  if (resultSize() !== LEASE_SIZE) return false;
  const held = resultPtr();
  if (load<u64>(held) !== self && now < load<u64>(held, 8)) return false;
  return writeShared(KEY_LEADER, lease, LEASE_SIZE, sharedCas());
}
