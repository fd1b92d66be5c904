import type {
  Directive,
  GroupAdvice,
  Move,
  Override,
  Signals,
  Summary,
  SyncResponse,
} from "../sync/contract.js";
import { causeNumber, modeNumber, stateNumber } from "./sync-names.js";
import { Writer } from "./writer.js";

/** What a gateway is told. Defaults are left out. */
export function writeSyncResponse({ sequence, directives, nextMs }: SyncResponse): Buffer {
  const writer = new Writer();
  put(writer, 1, sequence);
  for (const directive of directives) writer.message(2, () => writeDirective(writer, directive));
  put(writer, 3, nextMs);
  return writer.finish();
}

function writeDirective(writer: Writer, directive: Directive): void {
  const { override, signals, group, move, summary } = directive;
  writer.text(1, directive.name);
  put(writer, 2, directive.acknowledgedGeneration);
  if (override) writer.message(3, () => writeOverride(writer, override));
  if (signals) writer.message(4, () => writeSignals(writer, signals));
  if (group) writer.message(5, () => writeGroup(writer, group));
  if (move) writer.message(6, () => writeMove(writer, move));
  if (summary) writer.message(7, () => writeSummary(writer, summary));
}

function writeOverride(writer: Writer, override: Override): void {
  put(writer, 1, modeNumber(override.mode));
  put(writer, 2, override.remainingMs);
  put(writer, 3, override.version);
  putFlag(writer, 4, override.isWithdrawn);
  if (override.who) writer.text(5, override.who);
  if (override.why) writer.text(6, override.why);
}

function writeSignals(writer: Writer, signals: Signals): void {
  putFlag(writer, 1, signals.isFresh);
  if (signals.kvCacheUse !== undefined) put(writer, 2, 1 + Math.round(signals.kvCacheUse * 1000));
  putFlag(writer, 3, signals.isWhole);
  if (signals.waiting !== undefined) put(writer, 4, 1 + signals.waiting);
  putFlag(writer, 5, signals.isQueueLong);
}

function writeGroup(writer: Writer, group: GroupAdvice): void {
  put(writer, 1, group.mayProbeMs);
  put(writer, 2, group.rampShare);
  put(writer, 3, group.live);
  put(writer, 4, group.evidence);
}

function writeMove(writer: Writer, move: Move): void {
  put(writer, 1, move.version);
  put(writer, 2, move.expectedGeneration);
  put(writer, 3, stateNumber(move.to));
  put(writer, 4, move.stage);
  put(writer, 5, move.openings);
  put(writer, 6, move.waitMs);
  put(writer, 7, causeNumber(move.cause));
  putFlag(writer, 8, move.isForAll);
  putFlag(writer, 9, move.isOwn);
}

function writeSummary(writer: Writer, summary: Summary): void {
  put(writer, 1, stateNumber(summary.state));
  put(writer, 2, summary.openings);
  put(writer, 3, summary.waitMs);
  putFlag(writer, 4, summary.isEvidence);
  put(writer, 5, summary.track);
}

/** Times are fractions of a millisecond on our clock, and what is over may be below zero by then. */
function put(writer: Writer, field: number, value: number): void {
  const whole = Math.min(Math.max(0, Math.floor(value)), Number.MAX_SAFE_INTEGER);
  if (whole > 0) writer.varint(field, whole);
}

function putFlag(writer: Writer, field: number, value: boolean): void {
  if (value) writer.flag(field, true);
}
