import type { Mode, Move, State } from "../../../../extproc/sync/contract.js";

/** A record of the filter as far as the group is concerned: filter/breaker, told in short. Times are its Envoy's. */
export class SimulatedRecord {
  state: State = "CLOSED";
  stage = 0;
  generation = 1;
  openings = 0;
  cause = "NONE";
  sinceMs = 0;
  openUntilMs = 0;
  isEvidence = false;
  track = 0;
  mode: Mode = "enforce";
  probeOwner = 0;
  stageSuccesses = 0;
  streak = 0;

  enter(state: State, stage: number, cause: string, now: number): void {
    if (state === "CLOSED") this.isEvidence = false;
    this.state = state;
    this.stage = stage;
    this.cause = cause;
    this.sinceMs = now;
    this.stageSuccesses = 0;
    this.generation++;
  }

  open(cause: string, waitMs: number, now: number): void {
    if (this.state === "CLOSED") {
      this.isEvidence = true;
      this.openings = 0;
    }
    this.openings++;
    this.openUntilMs = now + waitMs * 2 ** Math.min(4, this.openings - 1);
    this.enter("OPEN", 0, cause, now);
  }

  /** As filter/breaker/move.ts does it. */
  apply(move: Move, now: number): void {
    if (move.expectedGeneration !== this.generation || move.version <= this.track) return;
    const isMoving = this.mode === "enforce" || this.mode === "shadow";
    if (!move.isOwn && !isMoving && move.cause !== "OPERATOR_RESET") return;
    this.track = move.version;
    if (move.isOwn || (this.state === "CLOSED" && !move.isForAll)) return;
    if (move.to === "OPEN") this.moveToOpen(move, now);
    else if (move.to === "HALF_OPEN") {
      const isThere = this.state === "HALF_OPEN" && this.stage === move.stage;
      if (isThere || this.state === "CLOSED") return;
      this.openings = Math.max(this.openings, move.openings);
      this.enter("HALF_OPEN", move.stage, move.cause, now);
    } else if (this.state !== "CLOSED" || move.cause === "OPERATOR_RESET") {
      this.streak = 0;
      this.enter("CLOSED", 0, move.cause, now);
    }
  }

  private moveToOpen(move: Move, now: number): void {
    if (this.state === "OPEN" && move.openings <= this.openings) {
      this.openUntilMs = Math.max(this.openUntilMs, now + move.waitMs);
      return;
    }
    this.openings = Math.max(this.openings, move.openings);
    this.openUntilMs = now + move.waitMs;
    this.enter("OPEN", 0, move.cause, now);
  }
}
