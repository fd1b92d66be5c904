import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Directive, Mode, State, SyncResponse } from "../../../extproc/sync/contract.js";
import { causeNumber } from "../../../extproc/wire/sync-names.js";
import { writeSyncResponse } from "../../../extproc/wire/sync-response.js";
import { decodeResponse, overrideToWire } from "../support/sync-messages.js";

const text = fc.string({ unit: "grapheme", maxLength: 60 });
const int = fc.nat();
const long = fc.maxSafeNat();
/** Our clock has fractions of a millisecond. */
const duration = fc.double({ min: 0, max: 1e12, noNaN: true });
const state = fc.constantFrom<State>("CLOSED", "OPEN", "HALF_OPEN");
const directive: fc.Arbitrary<Directive> = fc.record(
  {
    name: text,
    acknowledgedGeneration: int,
    override: fc.record({
      mode: fc.constantFrom<Mode>("enforce", "shadow", "disabled", "forcedOpen", "forcedClosed"),
      remainingMs: duration,
      version: long,
      isWithdrawn: fc.boolean(),
      who: text,
      why: text,
    }),
    signals: fc.record(
      {
        isFresh: fc.boolean(),
        kvCacheUse: fc.nat(1500).map((thousandths) => thousandths / 1000),
        isWhole: fc.boolean(),
        waiting: int,
        isQueueLong: fc.boolean(),
      },
      { requiredKeys: ["isFresh", "isWhole", "isQueueLong"] },
    ),
    group: fc.record({ mayProbeMs: duration, rampShare: int, live: int, evidence: int }),
    move: fc.record({
      version: long,
      expectedGeneration: int,
      to: state,
      stage: int,
      openings: int,
      waitMs: duration,
      cause: fc.constantFrom("GROUP_OPENED", "GROUP_PROBED", "GROUP_CLOSED", "OPERATOR_RESET"),
      isForAll: fc.boolean(),
      isOwn: fc.boolean(),
    }),
    summary: fc.record({ state, openings: int, waitMs: duration, isEvidence: fc.boolean(), track: long }),
  },
  { requiredKeys: ["name", "acknowledgedGeneration"] },
);

function expected({ override, signals, group, move, summary, ...rest }: Directive): object {
  return {
    ...rest,
    override: override
      ? { ...overrideToWire(override), remainingMs: Math.floor(override.remainingMs) }
      : null,
    signals: signals
      ? {
          ...signals,
          kvCacheUse: signals.kvCacheUse === undefined ? 0 : Math.round(signals.kvCacheUse * 1000) + 1,
          waiting: signals.waiting === undefined ? 0 : signals.waiting + 1,
        }
      : null,
    group: group ? { ...group, mayProbeMs: Math.floor(group.mayProbeMs) } : null,
    move: move ? { ...move, waitMs: Math.floor(move.waitMs), cause: causeNumber(move.cause) } : null,
    summary: summary ? { ...summary, waitMs: Math.floor(summary.waitMs) } : null,
  };
}

test("writes what the definitions read", () => {
  const response: fc.Arbitrary<SyncResponse> = fc.record({
    sequence: long,
    directives: fc.array(directive, { maxLength: 5 }),
    nextMs: int,
  });
  fc.assert(
    fc.property(response, (given) => {
      assert.deepEqual(decodeResponse(writeSyncResponse(given)), {
        ...given,
        directives: given.directives.map(expected),
      });
    }),
    { numRuns: 300 },
  );
});

test("writes nonsense of an advisor as nothing, and ends", () => {
  for (const value of [-1, -0.5, Number.NaN, Number.NEGATIVE_INFINITY]) {
    const group = { mayProbeMs: value, rampShare: value, live: 1, evidence: 0 };
    const bytes = writeSyncResponse({
      sequence: 1,
      directives: [{ name: "gpu", acknowledgedGeneration: 1, group }],
      nextMs: 250,
    });
    const [read] = decodeResponse(bytes).directives;
    assert.deepEqual(read?.group, { mayProbeMs: 0, rampShare: 0, live: 1, evidence: 0 });
  }
  const endless = { sequence: Number.POSITIVE_INFINITY, directives: [], nextMs: 1000 };
  assert.equal(decodeResponse(writeSyncResponse(endless)).sequence, Number.MAX_SAFE_INTEGER);
});
