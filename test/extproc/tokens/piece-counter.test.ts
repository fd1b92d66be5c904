import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { PieceCounter } from "../../../extproc/tokens/piece-counter.js";

/** Every character is a token, every blank ends a piece. */
class Letters {
  readonly asked: string[] = [];
  readonly counter: PieceCounter;

  constructor(split = (text: string): string[] | undefined => text.match(/\S+|\s/g) ?? []) {
    this.counter = new PieceCounter(async (texts) => {
      this.asked.push(...texts);
      return texts.map((text) => text.length);
    }, split);
  }
}

test("tokenizes each word once", async () => {
  const { counter, asked } = new Letters();
  assert.equal(await counter.count(["to be or not to be", "to"]), 20);
  assert.deepEqual(asked, ["to", " ", "be", "or", "not"]);
  assert.equal(await counter.count(["be it"]), 5);
  assert.deepEqual(asked.slice(5), ["it"]);
  assert.equal(await counter.count(["be or not"]), 9);
  assert.equal(asked.length, 6);
});

test("counts a piece as often as it stands there, long ones too", async () => {
  const { counter } = new Letters();
  const long = "x".repeat(100);
  for (let run = 0; run < 2; run++) assert.equal(await counter.count([`${long} ${long}`, long]), 301);
});

test("gives a text of many new words to the library whole, and learns from it", async () => {
  const { counter, asked } = new Letters();
  const text = Array.from({ length: 1000 }, (_, index) => `w${index}`).join(" ");
  assert.equal(await counter.count([text]), text.length);
  assert.equal(asked[0], text);
  assert.ok(asked.length < 200);
});

test("gives a text that can't be split to the library whole", async () => {
  const { counter, asked } = new Letters(() => undefined);
  assert.equal(await counter.count(["a b", "a b", ""]), 6);
  assert.deepEqual(asked.slice(0, 3), ["a b", "a b", ""]);
});

test("keeps counting when it knows too many words", async () => {
  const { counter } = new Letters();
  for (let round = 0; round < 600; round++) {
    const text = Array.from({ length: 60 }, (_, index) => `${round}-${index}`).join(" ");
    assert.equal(await counter.count([text]), text.length);
  }
});

test("remembers words and not the texts they came from", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const lengths = async (texts: readonly string[]) => texts.map((text) => text.length);
  const counter = new PieceCounter(lengths, (text) => text.match(/\S+|\s/g) ?? []);
  const bytesHeld = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = bytesHeld();
  for (let round = 0; round < 1000; round++) {
    const text = Buffer.from(`${"fill ".repeat(4000)}a-word-of-its-own-${round}`).toString("latin1");
    assert.equal(await counter.count([text]), text.length);
  }
  const heldMiB = (bytesHeld() - before) / 1_048_576;
  assert.ok(heldMiB < 5, `1000 texts of 20 kB leave ${heldMiB.toFixed(1)} MiB`);
  assert.equal(await counter.count(["a-word-of-its-own-7"]), 19);
});
