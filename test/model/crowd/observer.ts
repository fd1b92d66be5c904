import type { Layout } from "../record/layout.js";
import { State } from "../record/names.js";
import { type Snapshot, takeSnapshot } from "../record/snapshot.js";
import { apply } from "../reference/breaker.js";
import type { Act } from "../reference/operation.js";
import type { Result } from "../reference/outcomes.js";
import { freshReference, type Reference } from "../reference/state.js";
import { differenceOf, isSame } from "./compare.js";
import { rules, violationOfWrite, wayOf } from "./invariants.js";
import { Violation } from "./violation.js";
import { recordKey, type WatchedStore } from "./watched-store.js";

/** Races lost in a row after which an update is given up: `MAX_TRIES` of filter/host/shared-data.ts. */
const maxTries = 16;

/** One call of a worker into the record code, from its begin to its end; others may lie within it. */
interface Frame {
  readonly act: Act;
  /** The model as it was when the worker last read the record. */
  seen: Reference | undefined;
  done: Result | undefined;
  refused: number;
}

/**
 * Looks over the shoulders of all workers: holds each write against the invariants, and against what the model makes of what its
 * writer had read. Reads and failed writes change nothing, so a call takes effect in the moment of its one write, or of its last read.
 */
export class Observer {
  /** What the record should be now. */
  model: Reference;
  fault: Violation | undefined;
  /** Races lost to others, and those that were only said to be. */
  races = 0;
  /** Calls within a call of another worker. */
  nested = 0;
  /** Calls that were given up after too many lost races. */
  givenUp = 0;
  /** Transitions, as the state diagram calls them. */
  readonly ways = new Map<string, number>();
  /** The last call ended after so many lost races that it gave up. */
  isGivenUp = false;
  /** Whether the model is asked; otherwise only the invariants are. */
  readonly #hasModel: boolean;
  readonly #layout: Layout;
  readonly #frames: Frame[] = [];
  readonly #told = new Map<number, string>();
  #latest: { bytes: Uint8Array; snapshot: Snapshot } | undefined;
  readonly #nowMs: () => number;

  constructor(store: WatchedStore, layout: Layout, nowMs: () => number, hasModel = true) {
    this.#layout = layout;
    this.#nowMs = nowMs;
    this.#hasModel = hasModel;
    this.model = freshReference(nowMs());
    store.onWrite = (before, after) => this.#onWrite(before, after);
    store.onRefused = () => {
      this.races++;
      const frame = this.#frames.at(-1);
      if (frame) frame.refused++;
    };
  }

  /** The record as it stands in the store. */
  read(store: WatchedStore): Snapshot {
    return this.#snapshotOf(store.peek(recordKey) ?? Buffer.alloc(0));
  }

  onRead(): void {
    const frame = this.#frames.at(-1);
    if (frame) frame.seen = this.model;
  }

  /** Runs a worker's call, and judges it at its end. Gives what it answered. */
  during(act: Act, call: () => number): number {
    const frame: Frame = { act, seen: undefined, done: undefined, refused: 0 };
    if (this.#frames.length > 0) this.nested++;
    this.#frames.push(frame);
    const answer = call();
    this.#frames.pop();
    this.isGivenUp = frame.refused >= maxTries;
    if (this.isGivenUp) this.givenUp++;
    if (this.#hasModel) this.#judge(frame, answer);
    return answer;
  }

  blame(rule: string, details: string): void {
    this.fault ??= new Violation(rule, details);
  }

  #onWrite(beforeBytes: Buffer, afterBytes: Buffer): void {
    const before = this.#snapshotOf(beforeBytes);
    const after = this.#snapshotOf(afterBytes);
    if (after.generation !== before.generation) this.#countWay(wayOf(before, after));
    this.fault ??= violationOfWrite(before, after, this.#nowMs());
    this.#compareTold(after);
    if (!this.#hasModel) return;
    const frame = this.#frames.at(-1);
    if (frame?.seen) this.#compareWritten(frame, frame.seen, after);
    else this.blame(rules.overwritten, "written without a read");
  }

  #compareWritten(frame: Frame, seen: Reference, after: Snapshot): void {
    const told = JSON.stringify(frame.act.operation);
    if (seen !== this.model) this.blame(rules.overwritten, told);
    frame.done = apply(seen, frame.act);
    const { next } = frame.done;
    const difference = differenceOf(next, after);
    if (difference !== undefined) this.blame(rules.model, `${difference} after ${told}`);
    const openUntilMs = [after.openUntilMs, after.openUntilMs] as const;
    this.model = after.state === State.open ? { ...next, openUntilMs } : next;
  }

  #countWay(name: string): void {
    this.ways.set(name, (this.ways.get(name) ?? 0) + 1);
  }

  #judge({ act, seen, done, refused }: Frame, answer: number): void {
    if (!seen) return;
    const result = done ?? apply(seen, act);
    const isMissing = done === undefined && !isSame(seen, result.next);
    // A probe's lease is tried for once: the next tick tries again.
    const mayBeLost = refused >= maxTries || (act.operation.kind === "takeProbe" && refused > 0);
    if (isMissing && !mayBeLost) this.blame(rules.lost, JSON.stringify(act.operation));
    const isGivenUp = this.isGivenUp && answer === 0;
    const expected = isMissing ? 0 : result.answer;
    if (isAnswered(act) && answer !== expected && !isGivenUp)
      this.blame(rules.answer, `${answer}, expected ${expected} to ${JSON.stringify(act.operation)}`);
  }

  #compareTold({ generation, state, stage, lastCause, stateSinceMs }: Snapshot): void {
    const told = `${state}, stage ${stage}, ${lastCause} since ${stateSinceMs}`;
    const before = this.#told.get(generation) ?? told;
    this.#told.set(generation, before);
    if (before !== told) this.blame(rules.told, `${generation} was ${before}, then ${told}`);
  }

  /** What was written last is what is read next, mostly. */
  #snapshotOf(bytes: Buffer): Snapshot {
    if (this.#latest?.bytes === bytes) return this.#latest.snapshot;
    const snapshot = takeSnapshot(bytes, this.#layout);
    this.#latest = { bytes, snapshot };
    return snapshot;
  }
}

function isAnswered({ operation }: Act): boolean {
  return ["look", "canary", "outcome", "takeProbe"].includes(operation.kind);
}
