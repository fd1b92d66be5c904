// The second source of what is known of an engine's load: the engine, asked with each attempt, tells it with its answer.
import { readLoadMetrics, toldKvCacheUse, toldWaiting } from "../bytes/load-metrics";
import { HeaderMap, removeHeader, setHeader } from "../host/headers";
import * as names from "../names";
import { findLoadFacts, LoadFacts } from "../policy/load-facts";
import * as cluster from "./cluster";
import { recentMs } from "./recent";
import * as head from "./response-headers";
import { backendOf, MeterSlot, Origin } from "./slot";

/** Only where the cluster's metadata say in which form. */
export function askForLoad(slot: MeterSlot): void {
  if (cluster.loadFormatLength === 0 || slot.origin === Origin.UNMARKED) return;
  setHeader(HeaderMap.REQUEST, names.LOAD_FORMAT, cluster.loadFormatPtr, cluster.loadFormatLength);
  const facts = slot.origin === Origin.USER ? backendOf(slot).load : probedLoad();
  if (facts) slot.load = changetype<usize>(facts);
  slot.asksForLoad = true;
}

/** A probe comes without a policy: its backend is the cluster's. */
function probedLoad(): LoadFacts | null {
  return findLoadFacts(cluster.aliasPtr, cluster.aliasLength);
}

/** What was told stays here: how full the engines are is nothing for callers. */
export function noteLoad(slot: MeterSlot): void {
  if (head.loadPtr === 0) return;
  readLoadMetrics(head.loadPtr, head.loadLength);
  removeHeader(HeaderMap.RESPONSE, names.LOAD_METRICS);
  if (slot.load === 0) return;
  const facts = changetype<LoadFacts>(slot.load);
  const now = max(recentMs(), slot.startMs);
  if (toldKvCacheUse > 0) {
    facts.kvCacheUse = max(facts.kvCacheUse, toldKvCacheUse);
    facts.kvCacheUseMs = now;
  }
  if (toldWaiting > 0) {
    facts.waiting = toldWaiting;
    facts.waitingMs = now;
  }
}
