import type { Override, SharedOverride } from "../sync/contract.js";
import { type Fields, flag, int, listUpTo, long, message, readInto, textUpTo } from "../wire/fields.js";
import { Reader, WireError } from "../wire/reader.js";
import { modeOf, stateOf } from "../wire/sync-names.js";
import {
  type Ask,
  type BackendView,
  type GatewayView,
  type Grant,
  MAX_BACKENDS,
  MAX_GATEWAYS,
  MAX_OVERRIDES,
  MAX_SHARES,
  MOVE_CAUSES,
  type PeerMessage,
  READINESS,
  type Register,
  type Share,
} from "./message.js";
import { MAX_VERSION, phaseOf } from "./version.js";

const name = textUpTo(256);
/** An operator's who and why. */
const words = textUpTo(1024);
const state = (reader: Reader) => stateOf(reader.number());
const version = (reader: Reader) => {
  const value = reader.number();
  if (value >= MAX_VERSION) throw new WireError(`version ${value} is out of range`);
  return value;
};

function oneOf<Name>(names: readonly Name[], what: string): (reader: Reader) => Name {
  return (reader) => {
    const number = reader.number();
    const found = names[number];
    if (found === undefined) throw new WireError(`${what} ${number} is unknown`);
    return found;
  };
}

const ASK: Fields<Ask> = { 1: ["id", long], 2: ["leaseMs", int] };
const GRANT: Fields<Grant> = { 1: ["member", name], 2: ["ask", long] };

const SHARE: Fields<Share> = { 1: ["process", name], 2: ["count", int], 3: ["endedBy", version] };

const REGISTER: Fields<Register> = {
  1: ["version", version],
  2: ["stage", int],
  3: ["openings", int],
  4: ["waitMs", int],
  5: ["cause", oneOf(MOVE_CAUSES, "cause")],
  6: ["cap", int],
  7: ["isGrowing", flag],
  8: [
    "shares",
    listUpTo(MAX_SHARES, (reader) => readInto({ process: "", count: 0, endedBy: 0 }, reader, SHARE)),
  ],
};

const GATEWAY: Fields<GatewayView> = {
  1: ["process", name],
  2: ["state", state],
  3: ["stage", int],
  4: ["track", version],
  5: ["isEvidence", flag],
  6: ["isSilent", flag],
  7: ["hasTraffic", flag],
  8: ["livePermits", int],
};

const BACKEND: Fields<BackendView> = {
  1: ["name", name],
  2: ["weight", int],
  3: ["register", message(readRegister)],
  4: ["gateways", listUpTo(MAX_GATEWAYS, readGateway)],
  5: ["readiness", oneOf(READINESS, "readiness")],
  6: ["isProbing", flag],
  7: ["ask", message((reader: Reader) => readInto<Ask>({ id: 0, leaseMs: 0 }, reader, ASK))],
  8: ["grant", message((reader: Reader) => readInto<Grant>({ member: "", ask: 0 }, reader, GRANT))],
};

const OVERRIDE: Fields<Override> = {
  1: ["mode", (reader: Reader) => modeOf(reader.number())],
  2: ["remainingMs", long],
  3: ["version", long],
  4: ["isWithdrawn", flag],
  5: ["who", words],
  6: ["why", words],
};

const SHARED_OVERRIDE: Fields<{ backend: string; override: Override }> = {
  1: ["backend", name],
  2: ["override", message((reader: Reader) => readInto(noOverride(), reader, OVERRIDE))],
};

const MESSAGE: Fields<PeerMessage> = {
  1: ["member", name],
  2: ["name", name],
  3: ["sequence", long],
  4: ["uptimeMs", long],
  5: ["backends", listUpTo(MAX_BACKENDS, readBackend)],
  6: ["overrides", listUpTo(MAX_OVERRIDES, readOverride)],
};

/**
 * What another member has to tell.
 * @throws WireError when the bytes are no such message, or tell of more than a group can have
 */
export function readPeerMessage(bytes: Uint8Array): PeerMessage {
  const reader = new Reader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const empty = { member: "", name: "", sequence: 0, uptimeMs: 0, backends: [], overrides: [] };
  const told = readInto<PeerMessage>(empty, reader, MESSAGE);
  if (told.member === "") throw new WireError("a message of nobody");
  return told;
}

function readBackend(reader: Reader): BackendView {
  const empty = { name: "", weight: 0, gateways: [], readiness: "NONE" as const, isProbing: false };
  return readInto<BackendView>(empty, reader, BACKEND);
}

function readRegister(reader: Reader): Register {
  const cause = "GROUP_OPENED" as const;
  const empty = { version: 0, stage: 0, openings: 0, waitMs: 0, cause, cap: 0, isGrowing: false, shares: [] };
  const register = readInto<Register>(empty, reader, REGISTER);
  if (phaseOf(register.version) === "HALF_OPEN" && register.stage < 1)
    throw new WireError("a ramp at stage 0");
  return register;
}

function readGateway(reader: Reader): GatewayView {
  const flags = { isEvidence: false, isSilent: false, hasTraffic: false };
  const empty = { process: "", state: "CLOSED" as const, stage: 0, track: 0, livePermits: 0, ...flags };
  return readInto<GatewayView>(empty, reader, GATEWAY);
}

function readOverride(reader: Reader): SharedOverride {
  const { backend, override } = readInto({ backend: "", override: noOverride() }, reader, SHARED_OVERRIDE);
  return { backend, ...override };
}

function noOverride(): Override {
  return { mode: "enforce", remainingMs: 0, version: 0, isWithdrawn: false, who: "", why: "" };
}
