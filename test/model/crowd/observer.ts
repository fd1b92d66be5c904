import type { Layout } from "../record/layout.js";
import { late, State } from "../record/names.js";
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
  /** What it is at, and what it has to do after that. */
  readonly acts: Act[];
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
  /** That were accepted. */
  writes = 0;
  /** Successes of several requests that were filed by one write. */
  batches = 0;
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
    if (!frame) return;
    if (this.#hasModel && isOver(frame)) this.#finish(frame, 0);
    frame.seen = this.model;
  }

  /** The call that is under way has this to do, too. */
  expect(act: Act): void {
    this.#frames.at(-1)?.acts.push(act);
  }

  /** Runs a worker's call, and judges it at its end. Gives what it answered. */
  during(acts: readonly Act[], call: () => number): number {
    const frame: Frame = { acts: [...acts], seen: undefined, done: undefined, refused: 0 };
    if (this.#frames.length > 0) this.nested++;
    this.#frames.push(frame);
    const answer = call();
    this.#frames.pop();
    do this.#finish(frame, answer);
    while (frame.acts.length > 0);
    return answer;
  }

  #finish(frame: Frame, answer: number): void {
    this.isGivenUp = frame.refused >= maxTries;
    if (this.isGivenUp) this.givenUp++;
    const act = frame.acts.shift();
    if (act && this.#hasModel) this.#judge(act, frame, answer);
    Object.assign(frame, { seen: undefined, done: undefined, refused: 0 });
  }

  blame(rule: string, details: string): void {
    this.fault ??= new Violation(rule, details);
  }

  #onWrite(beforeBytes: Buffer, afterBytes: Buffer): void {
    this.writes++;
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
    const [act] = frame.acts;
    if (!act || frame.done) return void this.blame(rules.model, "written without anything to do");
    const told = JSON.stringify(act.operation);
    if (seen !== this.model) this.blame(rules.overwritten, told);
    frame.done = apply(seen, act);
    if (act.operation.kind === "successes" && act.operation.calls > 1) this.batches++;
    const { next } = frame.done;
    const difference = differenceOf(next, after);
    if (difference !== undefined) this.blame(rules.model, `${difference} after ${told}`);
    const openUntilMs = [after.openUntilMs, after.openUntilMs] as const;
    this.model = after.state === State.open ? { ...next, openUntilMs } : next;
  }

  #countWay(name: string): void {
    this.ways.set(name, (this.ways.get(name) ?? 0) + 1);
  }

  #judge(act: Act, { seen, done, refused }: Frame, answer: number): void {
    if (!seen) return void this.blame(rules.lost, `${JSON.stringify(act.operation)} without a look`);
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

/** Whether what a call does next is another thing. */
function isOver({ acts: [act, ...more], seen, done, refused }: Frame): boolean {
  if (!act || !seen || more.length === 0) return false;
  return done !== undefined || refused >= maxTries || apply(seen, act).answer === late;
}

function isAnswered({ operation }: Act): boolean {
  return ["look", "canary", "outcome", "takeProbe"].includes(operation.kind);
}
