// The one request of our own: when a wait is over, one VM of the process takes the lease and asks the backend, through its
// own cluster, whether it answers again.

import { showState } from "./announce";
import { hasClockStepped } from "./breaker/clock";
import { Mode } from "./breaker/config";
import { FULL_WEIGHT, Outcome } from "./breaker/outcome";
import { BackendRecord } from "./breaker/record";
import { State } from "./breaker/state";
import { AnswerReader, endAnswer, Finish, feedAnswer, resetAnswer } from "./bytes/answer";
import { isServed } from "./choose";
import { allocate, mark, release } from "./host/arena";
import { Buffer, readBuffer, WINDOW } from "./host/buffers";
import { nowMs, secret64 } from "./host/clock";
import { HeaderMap, readHeader } from "./host/headers";
import { httpCall } from "./host/http-call";
import { Level, log, noteGarbage } from "./host/log";
import { increment } from "./host/metrics";
import { finishPairs, pairsSize, putPair, putText, startPairs } from "./host/pairs-writer";
import { resultPtr, resultSize } from "./host/result";
import { createShared, readShared } from "./host/shared-data";
import { parseDecimal, Text } from "./host/text";
import * as names from "./names";
import { Backend, Policy } from "./policy/policy";
import {
  abandonProbe,
  acquireIdleCanary,
  acquireProbe,
  closeIfReady,
  fileOutcome,
  fileProbe,
  grantedGeneration,
  readRecord,
  releasePermit,
} from "./records";

const NONCE_SIZE: i32 = 32;
/** No record has it: what is filed under it moves deadlines only. */
const NO_GENERATION: u32 = 0;
const COMPLETIONS = Text.of("completions");

/** A probe in flight. Its owner is a name of its own, so that a lost lease's late verdict is told apart. */
@final
class PendingProbe {
  constructor(
    readonly token: u32,
    readonly backend: Backend,
    /** The lease it holds; 0 = it feeds an idle ramp, with the permit instead. */
    readonly owner: u64,
    readonly permit: u32,
    readonly generation: u32,
  ) {}
}

const pending: PendingProbe[] = [];

/** Makes the secret by which the meter knows our probes; the first VM of the process decides it. */
export function createNonce(): void {
  if (readShared(names.KEY_NONCE)) return;
  const nonce = allocate(NONCE_SIZE);
  if (nonce === 0) return;
  for (let i = 0; i < NONCE_SIZE; i += 16) putHex(nonce + i, secret64());
  createShared(names.KEY_NONCE, nonce, NONCE_SIZE);
}

function putHex(to: usize, value: u64): void {
  for (let i = 0; i < 16; i++) {
    const digit = <u8>((value >> (<u64>i * 4)) & 15);
    store<u8>(to + i, digit < 10 ? 0x30 + digit : 0x57 + digit);
  }
}

/** Called on each tick of a gate's root. */
export function probeDue(policy: Policy, now: u64): void {
  for (let i = 0; i < policy.backends.length; i++) {
    const backend = unchecked(policy.backends[i]);
    // The other modes send no probe.
    if (backend.breaker.mode > Mode.SHADOW) continue;
    const top = mark();
    const ptr = readRecord(backend, now);
    if (ptr !== 0) {
      const record = changetype<BackendRecord>(ptr);
      showState(backend, record);
      if (record.state === State.HALF_OPEN && record.stage > 0) closeIfReady(backend, now);
      // A probe that nobody rewrites would be a verdict on our own service.
      if (isServed(policy, backend)) advance(backend, record, now);
    }
    release(top);
  }
}

function advance(backend: Backend, record: BackendRecord, now: u64): void {
  if (isDue(backend, record, now)) probe(backend, now);
  else if (record.state === State.HALF_OPEN && record.stage > 0) feedRamp(backend, now);
}

/** A cheap look before the compare-and-swap; the breaker has the last word. */
function isDue(backend: Backend, record: BackendRecord, now: u64): bool {
  if (hasClockStepped(record, now)) return true;
  // Of a group one gateway at a time has its lease.
  if (!backend.directive.mayProbe(now)) return false;
  if (record.state === State.OPEN) return now >= record.openUntilMs;
  return record.state === State.HALF_OPEN && record.stage === 0 && now >= record.probeLeaseUntilMs;
}

function probe(backend: Backend, now: u64): void {
  const owner = secret64();
  if (!acquireProbe(backend, now, owner)) return;
  const token = sendProbe(backend);
  if (token === 0) {
    // No such cluster, no host, or its limits are reached: nobody's verdict.
    log(
      Level.WARN,
      "llm.breaker: no probe could be sent to backend " +
        backend.alias +
        ": is there a cluster named " +
        backend.cluster.toString() +
        "? backends." +
        backend.alias +
        ".cluster of the policy must name it",
    );
    abandonProbe(backend, nowMs(), owner);
    return;
  }
  expect(new PendingProbe(token, backend, owner, 0, 0));
}

/** A ramp without canaries goes on by probes, each as one of its canaries. */
function feedRamp(backend: Backend, now: u64): void {
  const permit = acquireIdleCanary(backend, now);
  if (permit === 0) return;
  const generation = grantedGeneration();
  const token = sendProbe(backend);
  if (token === 0) releasePermit(backend, nowMs(), permit);
  else expect(new PendingProbe(token, backend, 0, permit, generation));
}

function expect(probe: PendingProbe): void {
  increment(probe.backend.metrics.probes);
  pending.push(probe);
  noteGarbage();
}

/** The call's token, or 0 when it was not sent. */
function sendProbe(backend: Backend): u32 {
  if (!readShared(names.KEY_NONCE)) return 0;
  startPairs();
  putText(names.METHOD, names.POST);
  putText(names.PATH, backend.probe.path);
  putText(names.AUTHORITY, backend.aliasText);
  putText(names.CONTENT_TYPE, names.APPLICATION_JSON);
  putPair(names.HEADER_PROBE, resultPtr(), resultSize());
  const headers = finishPairs();
  if (headers === 0) return 0;
  const body = backend.probe.body;
  return httpCall(
    backend.cluster,
    headers,
    pairsSize(),
    body.ptr,
    body.length,
    backend.probe.firstTokenMaxMs,
  );
}

/** Takes the answer of a probe and files its verdict; false when the call was not one. */
export function onProbeAnswer(token: u32, headerCount: u32, bodySize: i32): bool {
  for (let i = 0; i < pending.length; i++) {
    const probe = pending[i];
    if (probe.token !== token) continue;
    pending.splice(i, 1);
    noteGarbage();
    const status = headerCount > 0 ? readStatus() : 0;
    const isWell = status >= 200 && status < 300 && isAnswer(probe.backend, bodySize);
    if (!isWell)
      log(Level.WARN, "llm.breaker: " + probe.backend.alias + " answered its probe with " + told(status));
    heedRetryAfter(probe.backend, status);
    conclude(probe, isWell);
    return true;
  }
  return false;
}

function conclude(probe: PendingProbe, isWell: bool): void {
  const now = nowMs();
  if (probe.permit === 0) fileProbe(probe.backend, now, probe.owner, isWell);
  else {
    const outcome = isWell ? Outcome.SUCCESS : Outcome.FAILURE;
    fileOutcome(probe.backend, now, probe.generation, probe.permit, outcome, FULL_WEIGHT, 0);
  }
}

function readStatus(): i32 {
  if (!readHeader(HeaderMap.CALL_RESPONSE, names.STATUS)) return 0;
  return <i32>parseDecimal(resultPtr(), resultSize());
}

/** A probe that is told when to come back: the next one comes no sooner. */
function heedRetryAfter(backend: Backend, status: i32): void {
  if (status < 400 || !readHeader(HeaderMap.CALL_RESPONSE, names.RETRY_AFTER)) return;
  const seconds = parseDecimal(resultPtr(), resultSize());
  if (seconds <= 0) return;
  const ms = <u32>(min<i64>(seconds, i32.MAX_VALUE / 1000) * 1000);
  fileOutcome(backend, nowMs(), NO_GENERATION, 0, Outcome.BACKPRESSURE, 0, ms);
}

function told(status: i32): string {
  if (status === 0) return "nothing";
  return "status " + status.toString() + (status < 300 ? ", but an error or no token inside" : "");
}

/** A completion needs a token or a finish reason; any other path only no error. */
function isAnswer(backend: Backend, size: i32): bool {
  const answer = changetype<AnswerReader>(allocate(offsetof<AnswerReader>()));
  if (changetype<usize>(answer) === 0) return false;
  resetAnswer(answer, false);
  for (let at = 0; at < size; ) {
    const top = mark();
    const isRead = readBuffer(Buffer.CALL_RESPONSE_BODY, at, min(size - at, WINDOW));
    const length = isRead ? resultSize() : 0;
    if (length > 0) feedAnswer(answer, resultPtr(), length);
    release(top);
    if (length <= 0) break;
    at += length;
  }
  endAnswer(answer);
  if (answer.errorSeen) return false;
  if (!endsWith(backend.probe.path, COMPLETIONS)) return true;
  return answer.complete && (answer.firstToken || answer.finish === Finish.NORMAL);
}

function endsWith(text: Text, end: Text): bool {
  const from = text.length - end.length;
  return from >= 0 && end.equals(text.ptr + from, end.length);
}
