import fc from "fast-check";
import {
  type BackendView,
  MOVE_CAUSES,
  type PeerMessage,
  READINESS,
} from "../../../../extproc/peers/message.js";
import { MAX_VERSION } from "../../../../extproc/peers/version.js";
import type { Mode, State } from "../../../../extproc/sync/contract.js";

/** Objects like any others. */
function record<T>(model: { [Key in keyof T]: fc.Arbitrary<T[Key]> }): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
}

const int = fc.oneof(fc.constantFrom(0, 1, 127, 128, 0xffff_ffff), fc.nat());
const long = fc.oneof(fc.constantFrom(0, Number.MAX_SAFE_INTEGER), fc.maxSafeNat());
const version = fc.nat({ max: MAX_VERSION - 1 });
const name = fc.string({ unit: "grapheme", maxLength: 20 });
const state = fc.constantFrom<State>("CLOSED", "OPEN", "HALF_OPEN");
const mode = fc.constantFrom<Mode>("enforce", "shadow", "disabled", "forcedOpen", "forcedClosed");
const register = record({
  version,
  stage: int.map((value) => Math.max(1, value)),
  openings: int,
  waitMs: int,
  cause: fc.constantFrom(...MOVE_CAUSES),
  cap: int,
  isGrowing: fc.boolean(),
  shares: fc.array(record({ process: name, count: int, endedBy: version }), { maxLength: 5 }),
});
export const gatewayView = record({
  process: name,
  state,
  stage: int,
  track: version,
  isEvidence: fc.boolean(),
  isSilent: fc.boolean(),
  hasTraffic: fc.boolean(),
  livePermits: int,
});
const view = record({
  name,
  weight: int,
  gateways: fc.array(gatewayView, { maxLength: 5 }),
  readiness: fc.constantFrom(...READINESS),
  isProbing: fc.boolean(),
});
const more = fc.record(
  { register, ask: record({ id: long, leaseMs: int }), grant: record({ member: name, ask: long }) },
  { requiredKeys: [], noNullPrototype: true },
);
const backend: fc.Arbitrary<BackendView> = fc.tuple(view, more).map(([one, other]) => ({ ...one, ...other }));
const override = record({
  backend: name,
  mode,
  remainingMs: long,
  version: long,
  isWithdrawn: fc.boolean(),
  who: name,
  why: name,
});
/** Any message that a member could send. */
export const peerMessage: fc.Arbitrary<PeerMessage> = record({
  member: name.filter((text) => text !== ""),
  name,
  sequence: long,
  uptimeMs: long,
  backends: fc.array(backend, { maxLength: 5 }),
  overrides: fc.array(override, { maxLength: 5 }),
});
