import { isClosingHeld, KvEvidence } from "../../../filter/breaker/closing-hold";

/** 1 + thousandths. */
const AT_749: u32 = 750;
const AT_750: u32 = 751;

function evidence(isFresh: bool, kvCacheUse: u32, isWhole: bool = true): KvEvidence {
  const given = new KvEvidence();
  given.hasSignals = true;
  given.isFresh = isFresh;
  given.kvCacheUse = kvCacheUse;
  given.isWhole = isWhole;
  return given;
}

describe("closing is held", () => {
  it("while the KV cache is as full as the threshold, by the service's samples", () => {
    expect(isClosingHeld(evidence(true, AT_749), 75)).toBe(false);
    expect(isClosingHeld(evidence(true, AT_750), 75)).toBe(true);
  });

  it("until there are samples over the whole five seconds", () => {
    expect(isClosingHeld(evidence(true, AT_749, false), 75)).toBe(true);
  });

  it("while signals are configured and stale, but not by a page without the figure", () => {
    expect(isClosingHeld(evidence(false, 0), 75)).toBe(true);
    expect(isClosingHeld(evidence(false, AT_749), 75)).toBe(true);
    expect(isClosingHeld(evidence(true, 0), 75)).toBe(false);
    expect(isClosingHeld(evidence(true, 0, false), 75)).toBe(false);
  });

  it("by what answers tell, only where the service has no figure", () => {
    const full = new KvEvidence();
    full.toldKvCacheUse = AT_750;
    expect(isClosingHeld(full, 75)).toBe(true);
    const roomy = evidence(true, AT_749);
    roomy.toldKvCacheUse = AT_750;
    expect(isClosingHeld(roomy, 75)).toBe(false);
    const stale = evidence(false, AT_750);
    stale.toldKvCacheUse = AT_749;
    expect(isClosingHeld(stale, 75)).toBe(false);
  });

  it("never with the threshold off, nor without anything that tells", () => {
    expect(isClosingHeld(evidence(false, 1001, false), 0)).toBe(false);
    expect(isClosingHeld(new KvEvidence(), 75)).toBe(false);
    const withdrawn = evidence(true, AT_750);
    withdrawn.hasSignals = false;
    expect(isClosingHeld(withdrawn, 75)).toBe(false);
  });
});
