// The second source of what is known of an engine's load: the engine, asked with each attempt, tells it with its answer.
import { isTooFull } from "../breaker/closing-hold";
import { readLoadMetrics, toldKvCacheUse, toldWaiting } from "../bytes/load-metrics";
import { HeaderMap, removeHeader, setHeader } from "../host/headers";
import { noteGarbage } from "../host/log";
import * as names from "../names";
import { findLoadFacts, LoadFacts, loadFactsOf } from "../policy/load-facts";
import { Backend } from "../policy/policy";
import { asked } from "./cluster";
import { recentMs } from "./recent";
import * as head from "./response-headers";
import { backendOf, MeterSlot, Origin } from "./slot";

/** Only where the cluster's metadata say in which form. */
export function askForLoad(slot: MeterSlot): void {
  if (asked.loadFormatLength === 0 || slot.origin === Origin.UNMARKED) return;
  setHeader(HeaderMap.REQUEST, names.LOAD_FORMAT, asked.loadFormatPtr, asked.loadFormatLength);
  slot.load = changetype<usize>(slot.origin === Origin.USER ? backendOf(slot).load : probedLoad());
}

/** A probe comes without a policy, maybe to a VM that knows none yet: its backend is the cluster's. */
function probedLoad(): LoadFacts {
  const found = findLoadFacts(asked.aliasPtr, asked.aliasLength);
  if (found) return found;
  noteGarbage();
  return loadFactsOf(String.UTF8.decodeUnsafe(asked.aliasPtr, asked.aliasLength));
}

/** What was told stays here: how full the engines are is nothing for callers. */
export function noteLoad(slot: MeterSlot): void {
  if (head.loadPtr === 0) return;
  readLoadMetrics(head.loadPtr, head.loadLength);
  removeHeader(HeaderMap.RESPONSE, names.LOAD_METRICS);
  const facts = changetype<LoadFacts>(slot.load);
  const now = max(recentMs(), slot.startMs);
  if (toldKvCacheUse > 0) {
    facts.kvCacheUse = max(facts.kvCacheUse, toldKvCacheUse);
    facts.kvCacheUseMs = now;
    if (slot.origin === Origin.USER) holdClosing(backendOf(slot));
  }
  if (toldWaiting > 0) {
    facts.waiting = toldWaiting;
    facts.waitingMs = now;
  }
}

/** The answer itself may be the last canary's. The next tick weighs all that is known. */
function holdClosing(backend: Backend): void {
  if (isTooFull(toldKvCacheUse, backend.breaker.kvCacheUseThreshold)) backend.breaker.isClosingHeld = true;
}
