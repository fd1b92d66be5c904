import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { pino } from "pino";
import { parseKeys } from "../../../extproc/peers/keys.js";
import { Peers } from "../../../extproc/peers/peers.js";
import { SealedExchange } from "../../../extproc/peers/sealed-exchange.js";
import { waitFor } from "../../support/wait-for.js";
import { KEY, Talk, Tap } from "../support/peers.js";

const keys = parseKeys(KEY);
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const silent = pino({ level: "silent" });

/** Two of them on one wire, whose time is the test's, and who have heard each other. */
function pair() {
  const wire = new Set<Tap>();
  const clock = { nowMs: 1000 };
  const useless: string[] = [];
  const exchanges = [0, 1].map(() => {
    const tap = new Tap(wire);
    return new SealedExchange(
      tap,
      keys,
      () => clock.nowMs,
      () => {},
      (what) => useless.push(what),
    );
  });
  const [one, two] = exchanges as [SealedExchange, SealedExchange];
  const heard: string[] = [];
  one.listen(() => true);
  two.listen((bytes) => heard.push(Buffer.from(bytes).toString()) > 0);
  const say = (text: string) => one.publish(Buffer.from(text));
  say("hello");
  two.publish(Buffer.from("hello"));
  return { wire, clock, useless, one, two, heard, say };
}

test("a thousand messages arrive in order, whatever garbage comes between", () => {
  const { wire, heard, say, useless } = pair();
  const [first] = wire;
  const told = Array.from({ length: 1000 }, (_, at) => `message ${at}`);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (garbage) => {
      first?.publish(garbage);
      const text = told[heard.length];
      if (text !== undefined) say(text);
    }),
    { numRuns: 1000 },
  );
  assert.deepEqual(heard, told);
  assert.equal(useless.length, 2000, "each one is refused by both");
});

test("a message that is too large is not sent, and is told", () => {
  const { one, say, useless, heard } = pair();
  say("x".repeat(262_144));
  assert.deepEqual(useless, ["tooLarge"]);
  say("y".repeat(250_000));
  assert.deepEqual([heard.length, one.counts.tooLarge], [1, 1]);
});

test("ten thousand messages of 20 kB leave no memory behind", async () => {
  const { clock, say, heard } = pair();
  const text = "m".repeat(20_000);
  const run = async (count: number) => {
    for (let at = 0; at < count; at++) {
      clock.nowMs += 100;
      say(text);
      heard.length = 0;
    }
    // Buffers are given back some turns after they are found to be unused.
    for (let turn = 0; turn < 5; turn++) {
      collect();
      await delay(5);
    }
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return (heapUsed + arrayBuffers) / 1e6;
  };
  const before = await run(5000);
  const after = await run(5000);
  // Half of what would be there if messages were kept.
  assert.ok(after - before < 50, `${before} MB, then ${after} MB`);
});

test("changes in a row are one message soon, and at most ten a second are sent", async () => {
  const wire = new Set<Tap>();
  const talk = new Talk("text");
  const peers = new Peers(new Tap(wire), keys, talk, silent);
  talk.onChange(() => peers.publishSoon());
  try {
    await waitFor(() => peers.counts.sent === 1, 500, "the first message");
    const endMs = performance.now() + 550;
    while (performance.now() < endMs) {
      for (let at = 0; at < 100; at++) talk.say(`${at}`);
      await delay(2);
    }
    const { sent } = peers.counts;
    assert.ok(sent >= 4 && sent <= 7, `${sent}`);
  } finally {
    await peers.close();
  }
  const { sent } = peers.counts;
  talk.say("too late");
  await delay(50);
  assert.equal(peers.counts.sent, sent);
});

test("a group whose messages can't be written or read is told of once a minute and ends nothing", async () => {
  const wire = new Set<Tap>();
  const lines: { msg: string; reason?: string }[] = [];
  const log = pino({}, { write: (text: string) => lines.push(JSON.parse(text)) });
  const broken = {
    write: () => Buffer.from("text"),
    read: () => {
      throw new Error("a later version's");
    },
    onChange: () => {},
  };
  const talk = new Talk("text");
  const [one, two] = [
    new Peers(new Tap(wire), keys, broken, log),
    new Peers(new Tap(wire), keys, talk, silent),
  ];
  try {
    await waitFor(() => one.counts.received >= 1 && two.counts.received >= 1, 3000, "messages");
    two.publishSoon();
    await waitFor(() => one.counts.received >= 2, 3000, "another message");
    assert.deepEqual(
      lines.map(({ msg, reason }) => ({ msg, reason })),
      [{ msg: "peers: a member's message can't be read", reason: "a later version's" }],
    );
  } finally {
    await Promise.all([one.close(), two.close()]);
  }
});
