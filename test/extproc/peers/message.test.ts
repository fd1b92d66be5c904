import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { loadSync, type MessageTypeDefinition } from "@grpc/proto-loader";
import fc from "fast-check";
import {
  type BackendView,
  MAX_BACKENDS,
  MOVE_CAUSES,
  type PeerMessage,
  READINESS,
} from "../../../extproc/peers/message.js";
import { readPeerMessage } from "../../../extproc/peers/message-reader.js";
import { writePeerMessage } from "../../../extproc/peers/message-writer.js";
import { MAX_VERSION, versionOf } from "../../../extproc/peers/version.js";
import { findRepoRoot } from "../../../extproc/root.js";
import type { Mode, State } from "../../../extproc/sync/contract.js";
import { WireError } from "../../../extproc/wire/reader.js";

const definitions = loadSync("llm_breaker/v1/peers.proto", {
  includeDirs: [join(findRepoRoot(), "proto")],
  longs: Number,
  enums: String,
  defaults: true,
});
const definition = definitions["llm_breaker.v1.PeerMessage"] as unknown as MessageTypeDefinition<
  object,
  object
>;

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
const gateway = record({
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
  gateways: fc.array(gateway, { maxLength: 5 }),
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
const message: fc.Arbitrary<PeerMessage> = record({
  member: name.filter((text) => text !== ""),
  name,
  sequence: long,
  uptimeMs: long,
  backends: fc.array(backend, { maxLength: 5 }),
  overrides: fc.array(override, { maxLength: 5 }),
});

const MODES: Readonly<Record<Mode, string>> = {
  enforce: "ENFORCE",
  shadow: "SHADOW",
  disabled: "DISABLED",
  forcedOpen: "FORCED_OPEN",
  forcedClosed: "FORCED_CLOSED",
};

/** As a library names and fills it. */
function spelled({ overrides, backends, ...rest }: PeerMessage): object {
  return {
    ...rest,
    backends: backends.map((each) => ({ register: null, ask: null, grant: null, ...each })),
    overrides: overrides.map((each) => {
      const { backend: of, ...words } = each;
      return { backend: of, override: { ...words, mode: MODES[each.mode] } };
    }),
  };
}

test("writes what a library reads, and reads what a library writes", () => {
  fc.assert(
    fc.property(message, (told) => {
      assert.deepEqual({ ...definition.deserialize(writePeerMessage(told)) }, spelled(told));
      assert.deepEqual(readPeerMessage(definition.serialize(spelled(told))), told);
    }),
  );
});

test("reads any bytes in bounded time, or tells that they are no message", () => {
  const valid = message.map(writePeerMessage);
  const mangled = fc.tuple(valid, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
    bytes[at % bytes.length] = byte;
    return bytes;
  });
  const cut = fc.tuple(valid, fc.nat()).map(([bytes, at]) => bytes.subarray(0, at % bytes.length));
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 400 }), mangled, cut), (bytes) => {
      try {
        assert.notEqual(readPeerMessage(bytes).member, "");
      } catch (cause) {
        assert.ok(cause instanceof WireError);
      }
    }),
    { numRuns: 2000 },
  );
});

test("takes in no message of more than a group can have", () => {
  const view = { name: "gpu", weight: 1, gateways: [], readiness: "NONE" as const, isProbing: false };
  const head = { member: "a/1", name: "a", sequence: 1, uptimeMs: 0, overrides: [] };
  const backends = (count: number) => Array.from({ length: count }, () => view);
  const bytes = (count: number) => definition.serialize(spelled({ ...head, backends: backends(count) }));
  assert.equal(readPeerMessage(bytes(MAX_BACKENDS)).backends.length, MAX_BACKENDS);
  assert.throws(() => readPeerMessage(bytes(MAX_BACKENDS + 1)), WireError);
});

test("takes in neither a version out of range nor a ramp without a stage", () => {
  const withRegister = (over: object) => {
    const word = { version: 1, stage: 0, openings: 0, waitMs: 0, cause: 0, cap: 0, shares: [], ...over };
    return definition.serialize({ member: "a/1", backends: [{ name: "gpu", register: word }] });
  };
  assert.equal(readPeerMessage(withRegister({})).backends.length, 1);
  assert.throws(() => readPeerMessage(withRegister({ version: MAX_VERSION })), WireError);
  assert.throws(() => readPeerMessage(withRegister({ version: versionOf(1, "HALF_OPEN", 1) })), WireError);
});
