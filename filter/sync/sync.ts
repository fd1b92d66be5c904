// The process's talk with our own service. One elected VM for each policy tells it once a second, and soon after a transition, how the
// backends stand; what it answers becomes plain fields of every VM. A service that is slow, or away, delays nothing here.
import { mark, release } from "../host/arena";
import { Buffer, readBuffer } from "../host/buffers";
import { nowMs } from "../host/clock";
import { HeaderMap, readHeader } from "../host/headers";
import { httpCall } from "../host/http-call";
import { Level, log, noteGarbage } from "../host/log";
import { finishPairs, pairsSize, putText, startPairs } from "../host/pairs-writer";
import { resultPtr, resultSize } from "../host/result";
import { parseDecimal, Text } from "../host/text";
import { AUTHORITY, CONTENT_TYPE, METHOD, PATH, POST, STATUS } from "../names";
import { Policy } from "../policy/policy";
import { applyNow } from "./apply";
import { answerNextMs, answerSequence, follow, isAnswer } from "./directives";
import { logOverride } from "./operator";
import { nameProcess } from "./process";
import { requestSize, writeRequest } from "./request";
import { awaitService, isServiceUp, noteAnswer } from "./service";
import { Turn } from "./turn";

const PERIOD_MS: u64 = 1000;
const LEAST_GAP_MS: u64 = 200;
/** Ticks are never exactly on time: one that is so little early is the one that was meant. */
const EARLY_MS: u64 = 25;
const CALL_TIMEOUT_MS: u32 = 800;
/** Then a call is lost, as when a push has taken its root away. */
const LOST_CALL_MS: u64 = 1000;
const MAX_ANSWER: i32 = 1 << 20;

const SYNC_PATH = Text.of("/v1/sync");
const SERVICE = Text.of("llm-breaker-service");
const PROTOBUF = Text.of("application/x-protobuf");

const turns: Turn[] = [];

/** Called where a policy begins. */
export function startSync(policy: Policy): void {
  nameProcess();
  if (policy.serviceCluster) awaitService(nowMs());
}

/** Called on each tick of a gate's root whose policy is the present one. */
export function sync(policy: Policy, now: u64): void {
  const cluster = policy.serviceCluster;
  if (!cluster) return;
  const turn = turnOf(policy);
  if (!turn.lease.hold(now)) return;
  logOverrides(policy, now);
  if (isDue(turn, now)) ask(turn, cluster, now);
}

function turnOf(policy: Policy): Turn {
  for (let i = 0; i < turns.length; i++) {
    const turn = unchecked(turns[i]);
    if (turn.policy === policy) return turn;
    if (turn.policy.name !== policy.name) continue;
    turn.renew(policy);
    noteGarbage();
    return turn;
  }
  const turn = new Turn(policy);
  turns.push(turn);
  noteGarbage();
  return turn;
}

function logOverrides(policy: Policy, now: u64): void {
  for (let i = 0; i < policy.backends.length; i++) {
    const top = mark();
    logOverride(unchecked(policy.backends[i]), now);
    release(top);
  }
}

function isDue(turn: Turn, now: u64): bool {
  const isInFlight = turn.token !== 0 && now < turn.askedMs + LOST_CALL_MS;
  if (isInFlight) return false;
  if (now + EARLY_MS >= turn.nextMs) return true;
  return now >= turn.askedMs + LEAST_GAP_MS && turn.hasNews(now);
}

function ask(turn: Turn, cluster: Text, now: u64): void {
  turn.askedMs = now;
  turn.nextMs = now + PERIOD_MS;
  turn.token = 0;
  tellOfService(turn, cluster);
  const sequence = turn.progress.next();
  if (sequence === 0) return;
  const body = writeRequest(turn, sequence, !turn.progress.hasAnswered, now);
  startPairs();
  putText(METHOD, POST);
  putText(PATH, SYNC_PATH);
  putText(AUTHORITY, SERVICE);
  putText(CONTENT_TYPE, PROTOBUF);
  const headers = finishPairs();
  if (body === 0 || headers === 0) return;
  turn.sequence = sequence;
  turn.token = httpCall(cluster, headers, pairsSize(), body, requestSize(), CALL_TIMEOUT_MS);
}

/** Only the leader tells, so that it is told once. */
function tellOfService(turn: Turn, cluster: Text): void {
  const isUp = isServiceUp(turn.policy);
  if (isUp === turn.wasUp) return;
  turn.wasUp = isUp;
  const service = "llm.breaker: the service (cluster " + cluster.toString() + ")";
  log(
    Level.WARN,
    isUp
      ? service + " answers again"
      : service +
          " is silent" +
          badAnswer(turn) +
          ": tiers with rewritesBody are skipped, no request is a canary by count. " +
          "Is it up, is this its listen.http, and is the token that of its sync.tokenFile?",
  );
}

/** Something may answer that is not the service, or does not know us. */
function badAnswer(turn: Turn): string {
  return turn.status === 0 ? "" : " (its last answer, of status " + turn.status.toString() + ", was none)";
}

/** Takes the answer to a request of ours; false when the call was not one. */
export function onSyncAnswer(token: u32, bodySize: i32): bool {
  if (token === 0) return false;
  for (let i = 0; i < turns.length; i++) {
    const turn = unchecked(turns[i]);
    if (turn.token !== token) continue;
    turn.token = 0;
    turn.status = readStatus();
    const isOk = turn.status >= 200 && turn.status < 300;
    if (isOk && bodySize > 0 && bodySize <= MAX_ANSWER) take(turn, bodySize);
    return true;
  }
  return false;
}

/** 0 when there was none. */
function readStatus(): i32 {
  if (!readHeader(HeaderMap.CALL_RESPONSE, STATUS)) return 0;
  return max<i32>(<i32>parseDecimal(resultPtr(), resultSize()), 0);
}

/** What is malformed, older than what was taken before, or meant for another process changes nothing. */
function take(turn: Turn, size: i32): void {
  if (!readBuffer(Buffer.CALL_RESPONSE_BODY, 0, size)) return;
  const answer = resultPtr();
  const length = resultSize();
  if (!isAnswer(answer, length) || answerSequence !== turn.sequence) return;
  const nextMs = answerNextMs;
  if (!turn.progress.accept(turn.sequence)) return;
  const now = nowMs();
  noteAnswer(now);
  const periodMs = nextMs === 0 ? PERIOD_MS : min<u64>(max<u64>(nextMs, LEAST_GAP_MS), PERIOD_MS);
  turn.nextMs = turn.askedMs + periodMs;
  follow(turn.policy, answer, length, turn.askedMs, now);
  applyNow(now);
}
