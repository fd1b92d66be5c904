// Which position a plugin's root is, and what it was told.

import { Buffer, readBuffer } from "./host/buffers";
import { nowMs } from "./host/clock";
import { canChangeCluster } from "./host/envoy-version";
import { Level, log, noteGarbage } from "./host/log";
import { flushCounters } from "./host/metrics";
import { declareFilterState, readProperty } from "./host/properties";
import { resultPtr, resultSize } from "./host/result";
import { tickEvery } from "./host/stream";
import { Text } from "./host/text";
import { refreshShedding } from "./loads";
import { TICK_MS, onTick as walkAttempts } from "./meter/timers";
import * as names from "./names";
import { eachBackend, isCurrent, publishPolicy } from "./policies";
import { Policy } from "./policy/policy";
import { presentKey } from "./policy-store";
import { createNonce, probeDue } from "./probe";
import { applyDirectives } from "./sync/apply";
import { startSync, sync } from "./sync/sync";

export enum Position {
  UNKNOWN,
  GATE,
  ADMIT,
  METER,
  GUARD,
}

@final
export class Root {
  position: Position = Position.UNKNOWN;
  policy: Policy | null = null;
  policyKey: Text | null = null;

  constructor(readonly id: u32) {}
}

const GATE = Text.of("gate");
const ADMIT = Text.of("admit");
const METER = Text.of("meter");
const GUARD = Text.of("guard");

const roots: Root[] = [];

export function createRoot(id: u32): void {
  roots.push(new Root(id));
  noteGarbage();
}

export function deleteRoot(id: u32): void {
  for (let i = 0; i < roots.length; i++) {
    if (roots[i].id === id) roots.splice(i--, 1);
  }
  noteGarbage();
}

export function findRoot(id: u32): Root | null {
  for (let i = 0; i < roots.length; i++) {
    if (unchecked(roots[i]).id === id) return unchecked(roots[i]);
  }
  return null;
}

/** False makes Envoy refuse the configuration and go on with the old one. */
export function configure(root: Root, size: i32): bool {
  root.position = positionOf();
  declareFilterState(names.STATE_BACKEND);
  declareFilterState(names.STATE_STEP);
  declareFilterState(names.STATE_REQUEST);
  declareFilterState(names.STATE_ORIGINAL);
  declareFilterState(names.STATE_CANARY);
  declareFilterState(names.STATE_REPLY);
  declareFilterState(names.STATE_LIMITS);
  declareFilterState(names.STATE_ANSWER);
  declareFilterState(names.STATE_BEFORE);
  declareFilterState(names.STATE_DEGRADE);
  declareFilterState(names.STATE_DIVERTED);
  declareFilterState(names.STATE_USAGE);
  declareFilterState(names.STATE_TIER);
  declareFilterState(names.STATE_STATE);
  declareFilterState(names.STATE_PASSED_OVER);
  if (root.position === Position.UNKNOWN) {
    log(Level.CRITICAL, "llm.breaker: root_id must be one of gate, admit, meter, guard");
    return false;
  }
  if (root.position !== Position.GUARD) tickEvery(TICK_MS);
  if (root.position === Position.METER && !canChangeCluster()) {
    log(Level.WARN, "llm.breaker: in-flight failover is off: a retry stays on its cluster before Envoy 1.39");
  }
  return root.position !== Position.GATE || configureGate(root, size);
}

function configureGate(root: Root, size: i32): bool {
  const isRead = size > 0 && readBuffer(Buffer.PLUGIN_CONFIGURATION, 0, size);
  const policy = publishPolicy(isRead ? resultPtr() : 0, isRead ? resultSize() : 0);
  if (!policy) return false;
  root.policy = policy;
  root.policyKey = presentKey(policy.name);
  createNonce();
  startSync(policy);
  return true;
}

function positionOf(): Position {
  if (!readProperty(names.PROPERTY_ROOT_ID)) return Position.UNKNOWN;
  const ptr = resultPtr();
  const size = resultSize();
  if (GATE.equals(ptr, size)) return Position.GATE;
  if (ADMIT.equals(ptr, size)) return Position.ADMIT;
  if (METER.equals(ptr, size)) return Position.METER;
  return GUARD.equals(ptr, size) ? Position.GUARD : Position.UNKNOWN;
}

export function tick(root: Root): void {
  flushCounters();
  const now = nowMs();
  applyDirectives(now);
  if (root.position === Position.GATE || root.position === Position.ADMIT) eachBackend(refreshShedding, now);
  if (root.position === Position.METER) {
    walkAttempts(root.id);
    return;
  }
  const policy = root.policy;
  const key = root.policyKey;
  if (!policy || !key) return;
  // A push leaves old roots alive as long as their streams: they fall silent, or two policies would probe.
  if (!isCurrent(policy, key)) {
    tickEvery(0);
    return;
  }
  probeDue(policy, now);
  sync(policy, now);
}
