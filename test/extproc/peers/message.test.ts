import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { loadSync, type MessageTypeDefinition } from "@grpc/proto-loader";
import fc from "fast-check";
import { MAX_MESSAGE_BYTES } from "../../../extproc/peers/exchange.js";
import { MAX_BACKENDS, type PeerMessage } from "../../../extproc/peers/message.js";
import { readPeerMessage } from "../../../extproc/peers/message-reader.js";
import { writePeerMessage } from "../../../extproc/peers/message-writer.js";
import { MAX_VERSION, versionOf } from "../../../extproc/peers/version.js";
import { findRepoRoot } from "../../../extproc/root.js";
import type { Mode } from "../../../extproc/sync/contract.js";
import { WireError } from "../../../extproc/wire/reader.js";
import { peerMessage as message } from "./support/messages.js";

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

test("what was read can be told on: a name whose bytes are no UTF-8 grows in reading, and is refused once it is too long", () => {
  const named = (size: number): Buffer => {
    const field = Buffer.alloc(3 + size, 0xff);
    field[0] = 0x0a;
    field[1] = (size & 0x7f) | 0x80;
    field[2] = size >> 7;
    return field;
  };
  const { member } = readPeerMessage(named(80));
  assert.equal(readPeerMessage(writePeerMessage({ ...readPeerMessage(named(80)) })).member, member);
  assert.throws(() => readPeerMessage(named(200)), WireError);
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

test("what does not fit into a message is left out, so that the rest is heard", () => {
  const why = "€".repeat(200);
  const word = {
    mode: "forcedOpen" as const,
    remainingMs: 1,
    version: 1,
    isWithdrawn: false,
    who: "ada",
    why,
  };
  const overrides = Array.from({ length: 512 }, (_, at) => ({ ...word, backend: `gpu${at}` }));
  const process = "p".repeat(256);
  const flags = { isEvidence: false, isSilent: false, hasTraffic: true };
  const gateway = { process, state: "OPEN" as const, stage: 0, track: 0, livePermits: 0, ...flags };
  const view = { weight: 1, readiness: "NONE" as const, isProbing: false };
  const backends = (each: number) =>
    Array.from({ length: MAX_BACKENDS }, (_, at) => ({
      ...view,
      name: `gpu${at}`,
      gateways: Array.from({ length: each }, () => gateway),
    }));
  const head = { member: "a/1", name: "a", sequence: 1, uptimeMs: 1 };
  const small = writePeerMessage({ ...head, backends: backends(0), overrides });
  assert.ok(small.length <= MAX_MESSAGE_BYTES - 4_096);
  const told = readPeerMessage(small);
  assert.equal(told.backends.length, MAX_BACKENDS);
  assert.ok(told.overrides.length > 100 && told.overrides.length < 512);
  const large = writePeerMessage({ ...head, backends: backends(8), overrides });
  assert.ok(large.length <= MAX_MESSAGE_BYTES - 4_096);
  assert.ok(readPeerMessage(large).backends.length > 100);
});
