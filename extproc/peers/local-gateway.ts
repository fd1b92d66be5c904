import type { BackendReport, Mode } from "../sync/contract.js";
import type { GatewayView } from "./message.js";
import { MAX_VERSION } from "./version.js";

/** A gateway that was silent for so long counts no more. */
const SILENT_MS = 3000;
/** So long it may go on by the last word that it was told, and a while for the word to get there. */
export const HOLDS_WORD_MS = 33_000;
/** Each worker takes a new share up with its own tick. */
const TICK_MS = 500;
const TRAFFIC_MS = 10_000;

/** One Envoy process that syncs here, as to one backend. */
export class LocalGateway {
  /** Of the last transition that was looked at; undefined before the first look. */
  handledGeneration: number | undefined;
  private track = 0;
  private trackedAtMs = 0;
  private requests = 0;
  private requestedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    readonly process: string,
    public report: BackendReport,
    public seenAtMs: number,
  ) {
    this.take(report, seenAtMs);
    this.trackedAtMs = Number.NEGATIVE_INFINITY;
    this.requestedAtMs = Number.NEGATIVE_INFINITY;
  }

  take(report: BackendReport, now: number): void {
    const { permitted, refused, limited, shed } = report.counters;
    const requests = permitted + refused + limited + shed;
    if (requests !== this.requests) this.requestedAtMs = now;
    if (report.track !== this.report.track) {
      this.track = this.report.track;
      this.trackedAtMs = now;
    }
    this.requests = requests;
    this.report = report;
    this.seenAtMs = now;
  }

  isHeld(now: number): boolean {
    return now - this.seenAtMs <= HOLDS_WORD_MS;
  }

  isLive(now: number): boolean {
    return now - this.seenAtMs <= SILENT_MS && isMoving(this.report.mode);
  }

  isRamping(): boolean {
    return this.report.state === "HALF_OPEN" && this.report.stage > 0;
  }

  /** A probe is in flight, or may be. */
  isProbing(now: number): boolean {
    const { state, stage, probeLeaseMs } = this.report;
    return state === "HALF_OPEN" && stage === 0 && this.stateAgeMs(now) < probeLeaseMs;
  }

  stateAgeMs(now: number): number {
    return this.report.stateAgeMs + now - this.seenAtMs;
  }

  /** Left of its own wait in OPEN. */
  waitMs(now: number): number {
    return this.report.state === "OPEN"
      ? Math.max(0, this.report.waitRemainingMs - (now - this.seenAtMs))
      : 0;
  }

  view(now: number): GatewayView {
    const { state, stage, isEvidence, livePermits } = this.report;
    return {
      process: this.process,
      state,
      stage,
      track: this.settledTrack(now),
      isEvidence: isEvidence && state !== "CLOSED",
      isSilent: !this.isLive(now),
      hasTraffic: now - this.requestedAtMs <= TRAFFIC_MS,
      livePermits,
    };
  }

  /** The version that all its workers go by, not only the one that asked. */
  private settledTrack(now: number): number {
    const isSettled = now - this.trackedAtMs >= TICK_MS;
    return Math.min(isSettled ? this.report.track : this.track, MAX_VERSION - 1);
  }
}

/** Whether the breaker goes by what happens, and not by an operator's word. */
export function isMoving(mode: Mode): boolean {
  return mode === "enforce" || mode === "shadow";
}
