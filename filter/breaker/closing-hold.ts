// Whether a recovered backend has to wait before it closes: its engine's KV cache is too full, or what should tell of it is silent.

/** What the service's scraper and the answers' headers know. One is enough for a VM: it is filled and asked at once. */
@final
export class KvEvidence {
  /** The service's configuration names signals of the backend, and the service was heard of within the last 30 s. */
  hasSignals: bool = false;
  /** A page was read within the last 5 s. */
  isFresh: bool = false;
  /** There are samples over the whole last 5 s. */
  isWhole: bool = false;
  /** 1 + thousandths of the KV cache in use by the service's samples, the worst of the last 5 s; 0 = unknown. */
  kvCacheUse: u32 = 0;
  /** By the answers' headers: the worst of the last 5 s, else the latest while it stands. */
  toldKvCacheUse: u32 = 0;
}

/**
 * The service's samples go first: they see every engine, in silence too. What answers tell stands in for them. Signals that should be
 * there and are not hold; a page without the figure does not, since a metric that is gone is no reaction.
 * @param threshold percent of the KV cache in use from which on it holds; 0 = never
 */
export function isClosingHeld(evidence: KvEvidence, threshold: i32): bool {
  if (threshold === 0) return false;
  const isKnown = evidence.hasSignals && evidence.isFresh && evidence.kvCacheUse > 0;
  if (isKnown) return !evidence.isWhole || isTooFull(evidence.kvCacheUse, threshold);
  if (evidence.toldKvCacheUse > 0) return isTooFull(evidence.toldKvCacheUse, threshold);
  return evidence.hasSignals && !evidence.isFresh;
}

/** @param threshold 0 = nothing is */
export function isTooFull(kvCacheUse: u32, threshold: i32): bool {
  return threshold > 0 && <i64>kvCacheUse - 1 >= <i64>threshold * 10;
}
