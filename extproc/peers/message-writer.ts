import type { SharedOverride } from "../sync/contract.js";
import { modeNumber, stateNumber } from "../wire/sync-names.js";
import { Writer } from "../wire/writer.js";
import { MAX_MESSAGE_BYTES } from "./exchange.js";
import {
  type BackendView,
  type GatewayView,
  MAX_BACKENDS,
  MAX_GATEWAYS,
  MAX_OVERRIDES,
  MAX_SHARES,
  MOVE_CAUSES,
  type PeerMessage,
  READINESS,
  type Register,
} from "./message.js";

/** Of one message; seal and freshness come to it. Bytes. */
const MAX_BYTES = MAX_MESSAGE_BYTES - 8_192;

/**
 * What one member has to tell, as proto/llm_breaker/v1/peers.proto lays it out. What does not fit is left out, the last first: a member
 * that told nothing at all would be none.
 */
export function writePeerMessage(message: PeerMessage): Buffer {
  const writer = new Writer();
  writer.text(1, message.member);
  writer.text(2, message.name);
  number(writer, 3, message.sequence);
  number(writer, 4, message.uptimeMs);
  putFitting(writer, message.backends.slice(0, MAX_BACKENDS), (view) =>
    writer.message(5, () => writeBackend(writer, view)),
  );
  putFitting(writer, message.overrides.slice(0, MAX_OVERRIDES), (override) =>
    writer.message(6, () => writeOverride(writer, override)),
  );
  return writer.finish();
}

function putFitting<Item>(writer: Writer, items: readonly Item[], put: (item: Item) => void): void {
  for (const item of items) {
    const before = writer.length;
    put(item);
    if (writer.length <= MAX_BYTES) continue;
    writer.cut(before);
    return;
  }
}

function writeBackend(writer: Writer, view: BackendView): void {
  const { register, ask, grant } = view;
  writer.text(1, view.name);
  number(writer, 2, view.weight);
  if (register) writer.message(3, () => writeRegister(writer, register));
  for (const gateway of view.gateways.slice(0, MAX_GATEWAYS))
    writer.message(4, () => writeGateway(writer, gateway));
  number(writer, 5, READINESS.indexOf(view.readiness));
  flag(writer, 6, view.isProbing);
  if (ask)
    writer.message(7, () => {
      number(writer, 1, ask.id);
      number(writer, 2, ask.leaseMs);
    });
  if (grant)
    writer.message(8, () => {
      writer.text(1, grant.member);
      number(writer, 2, grant.ask);
    });
}

function writeRegister(writer: Writer, register: Register): void {
  number(writer, 1, register.version);
  number(writer, 2, register.stage);
  number(writer, 3, register.openings);
  number(writer, 4, register.waitMs);
  number(writer, 5, MOVE_CAUSES.indexOf(register.cause));
  number(writer, 6, register.cap);
  flag(writer, 7, register.isGrowing);
  for (const { process, count, endedBy } of register.shares.slice(0, MAX_SHARES))
    writer.message(8, () => {
      writer.text(1, process);
      number(writer, 2, count);
      number(writer, 3, endedBy);
    });
}

function writeGateway(writer: Writer, gateway: GatewayView): void {
  writer.text(1, gateway.process);
  number(writer, 2, stateNumber(gateway.state));
  number(writer, 3, gateway.stage);
  number(writer, 4, gateway.track);
  flag(writer, 5, gateway.isEvidence);
  flag(writer, 6, gateway.isSilent);
  flag(writer, 7, gateway.hasTraffic);
  number(writer, 8, gateway.livePermits);
}

function writeOverride(writer: Writer, override: SharedOverride): void {
  writer.text(1, override.backend);
  writer.message(2, () => {
    number(writer, 1, modeNumber(override.mode));
    number(writer, 2, override.remainingMs);
    number(writer, 3, override.version);
    flag(writer, 4, override.isWithdrawn);
    writer.text(5, override.who);
    writer.text(6, override.why);
  });
}

function number(writer: Writer, field: number, value: number): void {
  if (value > 0) writer.varint(field, Math.floor(value));
}

function flag(writer: Writer, field: number, value: boolean): void {
  if (value) writer.flag(field, true);
}
