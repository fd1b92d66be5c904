import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Status } from "../wasm/host/abi.js";
import { checkSchedules } from "./crowd/check-schedules.js";
import { rules } from "./crowd/invariants.js";
import { recordKey, WatchedStore } from "./crowd/watched-store.js";
import { Workers } from "./crowd/workers.js";

const { layout } = new Workers();
const runs = 3_000;
const seed = 8;

type Tamper = (before: Buffer, after: Buffer) => void;

/** Keeps something else than what it was given. */
class TamperingStore extends WatchedStore {
  readonly #tamper: Tamper;

  constructor(tamper: Tamper) {
    super();
    this.#tamper = tamper;
  }

  protected override write(key: string, value: Buffer, cas: number): number {
    const before = this.peek(key);
    if (key !== recordKey || !before) return super.write(key, value, cas);
    const after = Buffer.from(value);
    this.#tamper(before, after);
    return super.write(key, after, cas);
  }
}

/** Takes every write, whoever was faster. */
class BlindStore extends WatchedStore {
  protected override write(key: string, value: Buffer, _cas: number): number {
    return super.write(key, value, 0);
  }
}

/** Says of every eighth write that it was done, and has not done it. */
class ForgetfulStore extends WatchedStore {
  #writes = 0;

  override set(key: string, value: Buffer, cas: number): number {
    const isForgotten = key === recordKey && this.peek(key) && ++this.#writes % 8 === 0;
    return isForgotten ? Status.ok : super.set(key, value, cas);
  }
}

/** A part of the record stays as it was before the write. */
function torn(from: number, to?: number): () => WatchedStore {
  return () => new TamperingStore((before, after) => before.copy(after, from, from, to));
}

/** One number of the record is another one in each write for which `isTold`. */
function changed(at: number, to: (value: number) => number, isTold: Tamper2 = () => true) {
  return () =>
    new TamperingStore((before, after) => {
      if (isTold(before, after)) after.writeUInt32LE(to(after.readUInt32LE(at)) >>> 0, at);
    });
}

type Tamper2 = (before: Buffer, after: Buffer) => boolean;

const isMoved: Tamper2 = (before, after) =>
  before.readUInt32LE(layout.generation) !== after.readUInt32LE(layout.generation);

const firstPermit = layout.permits + layout.permitId;

/** Without the model, which would see most of them first. The stage's cap takes a mutant of the code: docs/decisions/0039. */
const broken: readonly [what: string, rule: string, store: () => WatchedStore][] = [
  ["keeps the old window", rules.totals, torn(layout.buckets)],
  ["counts a generation too many", rules.generation, changed(layout.generation, (value) => value + 1)],
  ["counts no generation", rules.generation, torn(layout.generation, layout.generation + 4)],
  ["names another cause", rules.diagram, changed(layout.lastCause, () => 10, isMoved)],
  ["keeps the old history", rules.history, torn(layout.history, layout.buckets)],
  [
    "gives a permit in any state",
    rules.closedDoor,
    changed(firstPermit, (id) => (id === 0 ? 1_000_000 : id)),
  ],
  ["keeps the old permits", rules.permits, torn(layout.permits, layout.history)],
  ["forgets the first permit", rules.permits, changed(firstPermit, () => 0)],
  ["ends leases early", rules.oneProbe, changed(layout.probeLeaseUntilMs, () => 0)],
  ["turns the clock back", rules.clock, changed(layout.clockMs, (ms) => ms - 2)],
];

describe("each rule is broken by a store that breaks it", () => {
  for (const [what, rule, store] of broken) {
    test(`a store that ${what}: ${rule}`, () =>
      assertBreaks(rule, () => ({ store: store(), hasModel: false })));
  }

  test(`a store that takes every write: ${rules.overwritten}`, () =>
    assertBreaks(rules.overwritten, () => ({ store: new BlindStore() })));

  test(`a store that forgets what it has acknowledged: ${rules.lost}`, () =>
    assertBreaks(rules.lost, () => ({ store: new ForgetfulStore() })));

  test(`a store that counts one failure in a row more: ${rules.model}, and ${rules.gauge}`, () => {
    const store = changed(layout.consecutiveFailures, (streak) => streak + 1);
    assertBreaks(rules.model, () => ({ store: store() }));
    assertBreaks(rules.gauge, () => ({ store: store(), hasModel: false }));
  });
});

/** Every seed comes to a broken rule, and some seed to this one first. */
function assertBreaks(rule: string, crowd: () => { store: WatchedStore; hasModel?: boolean }): void {
  const found = new Set<string>();
  for (let from = 0; from < 20 && !found.has(rule); from++) {
    const { failure } = checkSchedules({ runs, seed: seed + from, crowd, isShrunk: false });
    assert.ok(failure, "nothing was noticed");
    found.add(failure.rule);
  }
  assert.ok(found.has(rule), [...found].join("; "));
}

describe("without compare-and-swap", () => {
  for (const rule of [rules.permits, rules.generation]) {
    test(`the invariants alone see it: ${rule}`, () =>
      assertBreaks(rule, () => ({ store: new BlindStore(), hasModel: false })));
  }

  test("a schedule that shows it is shrunk to a few steps, and told with its seed", () => {
    const { failure } = checkSchedules({ runs, seed, crowd: () => ({ store: new BlindStore() }) });
    assert.match(failure?.report ?? "", /^seed 8, path [\d:]+, run \d+, shrunk \d+ times$/m);
    const steps = failure?.report.match(/\b[a-zA-Z]+\(\d, \d+\)/g) ?? [];
    assert.ok(steps.length <= 6, failure?.report);
  });
});
