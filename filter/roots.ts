// Which position a plugin's root is, and what it was told.

import { Buffer, readBuffer } from "./host/buffers";
import { nowMs } from "./host/clock";
import { findSlot, insertSlot, Slot, SlotPool } from "./host/contexts";
import { canChangeCluster } from "./host/envoy-version";
import { Level, log, noteGarbage } from "./host/log";
import { flushCounters } from "./host/metrics";
import { declareFilterState, readProperty } from "./host/properties";
import { resultPtr, resultSize } from "./host/result";
import { actAs, tickEvery } from "./host/stream";
import { Text } from "./host/text";
import { refreshShedding } from "./loads";
import { ClusterConfig } from "./meter/cluster-config";
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
  /** No position: a root itself, among the contexts. */
  ROOT,
}

@final
export class Root {
  position: Position = Position.UNKNOWN;
  policy: Policy | null = null;
  policyKey: Text | null = null;
  /** A meter's cluster, when it was told of it. */
  cluster: ClusterConfig | null = null;

  constructor(readonly id: u32) {}
}

const GATE = Text.of("gate");
const ADMIT = Text.of("admit");
const METER = Text.of("meter");
const GUARD = Text.of("guard");

/** Where a root stands among the contexts, so that a stream finds it at once: there are as many meters as clusters. */
@unmanaged
class RootSlot extends Slot {
  at: usize;
}

const rootSlots: SlotPool = new SlotPool((<i32>offsetof<RootSlot>() + 7) & ~7);
const roots: Root[] = [];

export function createRoot(id: u32): void {
  const root = new Root(id);
  roots.push(root);
  const slot = changetype<RootSlot>(rootSlots.take());
  slot.id = id;
  slot.kind = Position.ROOT;
  slot.at = changetype<usize>(root);
  insertSlot(slot);
  noteGarbage();
}

/** @param slot out of the table already */
export function deleteRoot(slot: usize): void {
  const root = changetype<Root>(changetype<RootSlot>(slot).at);
  rootSlots.give(slot);
  roots.splice(roots.indexOf(root), 1);
  if (ticking === root.id) handTickOver();
  noteGarbage();
}

/** O(1). */
export function findRoot(id: u32): Root | null {
  const at = findSlot(id);
  if (at === 0 || changetype<Slot>(at).kind !== Position.ROOT) return null;
  return changetype<Root>(changetype<RootSlot>(at).at);
}

/** The meter's root that ticks for all those of this VM: hundreds of clusters are no hundreds of ticks. 0 = none does. */
let ticking: u32 = 0;

function handTickOver(): void {
  const gone = ticking;
  ticking = 0;
  for (let i = 0; i < roots.length && ticking === 0; i++) {
    if (roots[i].position === Position.METER) ticking = roots[i].id;
  }
  if (ticking === 0) return;
  actAs(ticking);
  tickEvery(TICK_MS);
  actAs(gone);
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
  if (root.position === Position.METER) return configureMeter(root, size);
  if (root.position !== Position.GUARD) tickEvery(TICK_MS);
  return root.position !== Position.GATE || configureGate(root, size);
}

function configureMeter(root: Root, size: i32): bool {
  root.cluster = null;
  if (size > 0 && !learnCluster(root, size)) return false;
  if (ticking === 0) {
    ticking = root.id;
    if (!canChangeCluster())
      log(
        Level.WARN,
        "llm.breaker: in-flight failover is off: a retry stays on its cluster before Envoy 1.39",
      );
  }
  if (ticking === root.id) tickEvery(TICK_MS);
  return true;
}

function learnCluster(root: Root, size: i32): bool {
  const errors: string[] = [];
  const isRead = readBuffer(Buffer.PLUGIN_CONFIGURATION, 0, size);
  const cluster = new ClusterConfig();
  cluster.read(isRead ? resultPtr() : 0, isRead ? resultSize() : 0, errors);
  noteGarbage();
  if (errors.length > 0) {
    log(Level.CRITICAL, "llm.breaker: the meter's configuration is refused: " + errors.join("; "));
    return false;
  }
  root.cluster = cluster;
  return true;
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
