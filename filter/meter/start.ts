// The start of an attempt: who it is, for which backend, and the request as that backend is to see it.

import { lengthBeforeQuery, pathRoom, writePath } from "../bytes/request-path";
import { startCall } from "../calls";
import { permittedGeneration } from "../choose";
import { allocate } from "../host/arena";
import { nowMs } from "../host/clock";
import { canChangeCluster } from "../host/envoy-version";
import {
  addHeader,
  HeaderMap,
  Pairs,
  readHeader,
  removeHeader,
  removeHeaderAt,
  setHeader,
  setHeaderAt,
} from "../host/headers";
import { Level, log } from "../host/log";
import { readProperty } from "../host/properties";
import { resultPtr, resultSize } from "../host/result";
import { readShared } from "../host/shared-data";
import { Text } from "../host/text";
import * as names from "../names";
import { findPolicy } from "../policies";
import { Chain, Policy } from "../policy/policy";
import { loadedName, loadRequest, NO_TIER, RequestRecord } from "../request-record";
import { asked, ClusterRules, readCluster } from "./cluster";
import { tellDegrade } from "./degrade";
import { askForLoad } from "./load";
import { removeCredentials, restoreOriginal } from "./original";
import { NOT_TOLD } from "./response-headers";
import { backendOf, chainOf, linkAttempt, MeterSlot, Origin, requestOf } from "./slot";
import { tellSpan } from "./traced";

const INTERNAL = Text.of("x-envoy-internal");
const EXPECTED_TIMEOUT = Text.of("x-envoy-expected-rq-timeout-ms");

/**
 * False at the stop cluster, where no attempt starts: the caller is to be answered.
 * @param configured what the meter was told of its cluster, if it was
 */
export function startAttempt(slot: MeterSlot, configured: ClusterRules | null): bool {
  slot.tier = NO_TIER;
  slot.retryAfter = NOT_TOLD;
  readCluster(configured);
  slot.hasOwnCredentials = asked.hasOwnCredentials;
  slot.isRewritten = asked.isRewritten;
  if (asked.oddLength > 0) tellOddKey();
  if (names.STOP.equals(asked.aliasPtr, asked.aliasLength)) return false;
  const request = requestOf(slot);
  if (loadRequest(request)) {
    // A first attempt starts when the gate lets go: its clock was read there.
    slot.queuedMs = request.failedAttempts === 0 ? request.startMs + request.heldMs : nowMs();
    slot.startMs = slot.queuedMs;
    if (isStopped()) return false;
    bindUser(slot);
  } else bindProbe(slot);
  if (slot.origin === Origin.USER && request.failedAttempts > 0) restoreOriginal();
  // Without a gate a caller could say it himself.
  if (asked.isRewritten && slot.origin !== Origin.USER)
    removeHeader(HeaderMap.REQUEST, names.HEADER_REWRITTEN);
  slot.isTranslated = asked.isTranslated && isChatCompletion();
  rewriteHead(slot);
  askForLoad(slot);
  if (slot.origin !== Origin.UNMARKED) linkAttempt(slot);
  if (slot.origin !== Origin.USER) return true;
  startCall(backendOf(slot), slot.queuedMs);
  if (asked.isDegradable) tellDegrade(slot);
  if (chainOf(slot).isTraced) tellSpan(slot);
  return true;
}

/** The stop cluster was named, but an Envoy before 1.39 tries again where it was. */
function isStopped(): bool {
  if (canChangeCluster()) return false;
  return readProperty(names.STATE_BACKEND) && names.STOP.equals(resultPtr(), resultSize());
}

/** Ties the attempt to the policy it was admitted under and to the tier that really runs, which is the cluster's. */
function bindUser(slot: MeterSlot): void {
  const request = requestOf(slot);
  const policy = findPolicy(request.policyHash, loadedName(), request.nameLength);
  if (!policy) return;
  if (policy.hash !== request.policyHash) moveToPolicy(request, policy);
  if (<i32>request.chain >= policy.chains.length) return;
  const chain = unchecked(policy.chains[request.chain]);
  const tier = tierOf(chain);
  if (tier < 0) {
    warnOnce(
      "cluster metadata llm.breaker.backend",
      "is no backend of the request's chain: its answers are not judged",
    );
    return;
  }
  const backend = unchecked(chain.tiers[tier]);
  pin(slot, policy);
  slot.origin = Origin.USER;
  slot.chain = changetype<usize>(chain);
  slot.backend = changetype<usize>(backend);
  slot.tier = <u8>tier;
  slot.attempt = request.failedAttempts + 1;
  const isFirst = request.failedAttempts === 0;
  if (isFirst && request.tier === slot.tier) slot.generation = request.generation;
  else slot.generation = permittedGeneration(backend, slot.startMs);
  if (isFirst && request.permitTier === slot.tier) slot.permit = request.permit;
}

function tierOf(chain: Chain): i32 {
  for (let i = 0; i < chain.tiers.length; i++) {
    if (unchecked(chain.tiers[i]).aliasText.equals(asked.aliasPtr, asked.aliasLength)) return i;
  }
  return -1;
}

/** The request's own policy is forgotten: it goes on under the present one, in the first chain that has this backend. */
function moveToPolicy(request: RequestRecord, policy: Policy): void {
  const isSame =
    <i32>request.chain < policy.chains.length && tierOf(unchecked(policy.chains[request.chain])) >= 0;
  for (let i = 0; i < policy.chains.length && !isSame; i++) {
    if (tierOf(unchecked(policy.chains[i])) < 0) continue;
    request.chain = <u8>i;
    break;
  }
  request.policyHash = policy.hash;
}

let hasWarned: bool = false;

/** A set-up fault that would be repeated for each request is told once a VM. */
function warnOnce(what: string, why: string): void {
  if (hasWarned) return;
  hasWarned = true;
  log(
    Level.ERROR,
    "llm.breaker: " + what + ' "' + String.UTF8.decodeUnsafe(asked.aliasPtr, asked.aliasLength) + '" ' + why,
  );
}

let hasToldOdd: bool = false;

/** A misspelt key does nothing, and a caller's key may go where none should: told once a VM. */
function tellOddKey(): void {
  if (hasToldOdd) return;
  hasToldOdd = true;
  log(
    Level.ERROR,
    "llm.breaker: cluster metadata of backend " +
      String.UTF8.decodeUnsafe(asked.aliasPtr, asked.aliasLength) +
      ": " +
      String.UTF8.decodeUnsafe(asked.oddPtr, asked.oddLength) +
      " is unknown, or has a value that is; it does nothing. Check its spelling",
  );
}

/** A request without the gate's mark is a probe when it knows this process's nonce. */
function bindProbe(slot: MeterSlot): void {
  if (!readHeader(HeaderMap.REQUEST, names.HEADER_PROBE)) return;
  const given = resultPtr();
  const length = resultSize();
  if (
    readShared(names.KEY_NONCE) &&
    resultSize() === length &&
    memory.compare(resultPtr(), given, length) === 0
  ) {
    slot.origin = Origin.PROBE;
  }
  removeHeader(HeaderMap.REQUEST, names.HEADER_PROBE);
  removeHeader(HeaderMap.REQUEST, INTERNAL);
  removeHeader(HeaderMap.REQUEST, EXPECTED_TIMEOUT);
}

function pin(slot: MeterSlot, policy: Policy): void {
  slot.policy = changetype<usize>(policy);
  policy.uses++;
}

/** The one request that the service translates into other dialects. */
function isChatCompletion(): bool {
  if (!readHeader(HeaderMap.REQUEST, names.PATH)) return false;
  return names.CHAT_COMPLETIONS.endsBytes(resultPtr(), lengthBeforeQuery(resultPtr(), resultSize()));
}

/** The path as the cluster wants it. What may not go there never does, scratch memory or not. */
function rewritePath(): void {
  const rule = asked.path;
  if (!rule.isComposed) {
    if (rule.pathLength > 0) setHeader(HeaderMap.REQUEST, names.PATH, rule.path, rule.pathLength);
    return;
  }
  if (!readHeader(HeaderMap.REQUEST, names.PATH)) return;
  const caller = resultPtr();
  const length = resultSize();
  const composed = allocate(pathRoom(rule, length));
  if (composed !== 0)
    setHeader(HeaderMap.REQUEST, names.PATH, composed, writePath(composed, rule, caller, length));
  else setHeader(HeaderMap.REQUEST, names.PATH, caller, lengthBeforeQuery(caller, length));
}

/** The head of the request as this backend is to see it. */
function rewriteHead(slot: MeterSlot): void {
  if (asked.hostLength > 0) setHeader(HeaderMap.REQUEST, names.AUTHORITY, asked.hostPtr, asked.hostLength);
  rewritePath();
  if (slot.hasOwnCredentials) removeCredentials(slot.origin === Origin.USER && chainOf(slot).holds);
  // Only an answer in no coding can be read.
  if (requestOf(slot).acceptsCoding)
    setHeader(HeaderMap.REQUEST, names.ACCEPT_ENCODING, names.IDENTITY.ptr, names.IDENTITY.length);
}
