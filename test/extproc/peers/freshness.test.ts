import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Freshness } from "../../../extproc/peers/freshness.js";

const text = Buffer.from("text");
const DAY_MS = 86_400_000;

/** Members whose clocks, which are monotonic, began at different times. */
function member(clock: { nowMs: number }, startedMs = 0) {
  let unheard = 0;
  const freshness = new Freshness(
    () => clock.nowMs - startedMs,
    () => unheard++,
  );
  return { freshness, unheard: () => unheard, tell: () => freshness.wrap(text) };
}

const kindOf = (freshness: Freshness, bytes: Buffer) => freshness.unwrap(bytes)?.kind;

test("a newcomer is heard after one message each way, and says that it was not heard yet", () => {
  const clock = { nowMs: DAY_MS };
  const old = member(clock);
  const young = member(clock, DAY_MS);
  assert.equal(kindOf(old.freshness, young.tell()), "stale");
  assert.equal(old.unheard(), 1);
  assert.equal(kindOf(young.freshness, old.tell()), "message");
  assert.equal(kindOf(old.freshness, young.tell()), "message");
  assert.equal(old.unheard() + young.unheard(), 1);
  const opened = old.freshness.unwrap(young.tell());
  assert.deepEqual(opened, { kind: "message", bytes: text });
});

/** Two that have heard each other, and all that the second one has sent. */
function acquainted(clock: { nowMs: number }) {
  const [one, two] = [member(clock), member(clock, 500)];
  const recorded: Buffer[] = [];
  const tell = () => {
    const bytes = two.tell();
    recorded.push(bytes);
    return bytes;
  };
  one.freshness.unwrap(tell());
  two.freshness.unwrap(one.tell());
  assert.equal(kindOf(one.freshness, tell()), "message");
  return { one, two, tell, recorded };
}

test("one's own messages and those that came before are taken in once", () => {
  const { one, tell, recorded } = acquainted({ nowMs: 1000 });
  assert.equal(kindOf(one.freshness, one.tell()), "own");
  const [later, last] = [tell(), tell()];
  assert.equal(kindOf(one.freshness, last), "message");
  for (const bytes of [later, last, ...recorded]) assert.equal(kindOf(one.freshness, bytes), "stale");
});

test("a dead member's messages, heard before or not, do not bring it back", () => {
  const clock = { nowMs: 1000 };
  const { one, tell, recorded } = acquainted(clock);
  const heard = [...recorded];
  const unheard = tell();
  // While it is remembered its stamps stand; after that what it answered to is too old.
  for (const elapsedMs of [9000, 10_001, DAY_MS]) {
    clock.nowMs = 1000 + elapsedMs;
    one.tell();
    for (const bytes of elapsedMs > 10_000 ? [...heard, unheard] : heard) {
      assert.equal(kindOf(one.freshness, bytes), "stale", `after ${elapsedMs} ms`);
    }
  }
});

test("what was recorded before this process began says nothing to it", () => {
  const clock = { nowMs: 1000 };
  const { recorded } = acquainted(clock);
  const restarted = member(clock, 1000);
  for (const bytes of recorded) assert.equal(kindOf(restarted.freshness, bytes), "stale");
  restarted.tell();
  for (const bytes of recorded) assert.equal(kindOf(restarted.freshness, bytes), "stale");
});

test("who has not heard us for 10 s does not count, though we hear it", () => {
  const clock = { nowMs: 1000 };
  const { one, two, tell } = acquainted(clock);
  for (let second = 1; second <= 30; second++) {
    clock.nowMs += 1000;
    one.tell();
    assert.equal(kindOf(one.freshness, tell()), second <= 10 ? "message" : "stale");
  }
  two.freshness.unwrap(one.tell());
  assert.equal(kindOf(one.freshness, tell()), "message");
});

test("recorded messages of a thousand dead members crowd nobody out, and memory is bounded", () => {
  const clock = { nowMs: 1000 };
  const { one, two, tell } = acquainted(clock);
  const dead = Array.from({ length: 1000 }, () => member(clock).tell());
  for (const bytes of dead) assert.equal(kindOf(one.freshness, bytes), "stale");
  assert.equal(one.freshness.size, 256);
  two.freshness.unwrap(one.tell());
  assert.equal(kindOf(one.freshness, tell()), "message");
  clock.nowMs += 10_001;
  assert.equal(one.freshness.size, 0);
});

test("a group as large as it may be hears each other", () => {
  const clock = { nowMs: 1000 };
  const all = Array.from({ length: 64 }, (_, at) => member(clock, at));
  const exchange = () =>
    all.flatMap((from) => {
      const bytes = from.tell();
      return all.filter((to) => to !== from).map((to) => kindOf(to.freshness, bytes));
    });
  exchange();
  exchange();
  assert.ok(exchange().every((kind) => kind === "message"));
});

test("bytes of any kind are no error", () => {
  const { one, tell } = acquainted({ nowMs: 1000 });
  const valid = tell();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(), (bytes, place) => {
      const at = place % valid.length;
      one.freshness.unwrap(Buffer.from(bytes));
      one.freshness.unwrap(Buffer.concat([valid.subarray(0, at), bytes]));
    }),
    { numRuns: 2000 },
  );
  assert.equal(one.freshness.unwrap(Buffer.alloc(15)), undefined);
  assert.equal(one.freshness.unwrap(valid.subarray(0, 20)), undefined);
});
