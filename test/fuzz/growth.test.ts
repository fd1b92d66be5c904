import assert from "node:assert/strict";
import { test } from "node:test";
import { glaringGrowthOf, growthOf } from "./support/growth.js";
import type { Session, Target } from "./target.js";

const target: Target = {
  name: "made up",
  parsers: [],
  seeds: [Buffer.from("ab")],
  linearBytes: 131_072,
  open: () => ({ run: () => "" }),
};

/** Milliseconds for what a parser does, by a clock that only its work moves. */
let nowMs = 0;
const now = () => nowMs;

function sessionOf(stepsFor: (bytes: Buffer) => number): Session {
  return {
    run: (bytes) => {
      nowMs += stepsFor(bytes) / 1e5;
      return "";
    },
  };
}

test("what takes four times as long for twice the bytes is told, with the bytes", async () => {
  const quotesIn = (bytes: Buffer) => (bytes.at(-1) === 0x22 ? bytes.length ** 2 : bytes.length);
  assert.match((await growthOf(target, sessionOf(quotesIn), { now })) ?? "", /bytes of "\\"" behind "" take/);
});

test("what takes twice as long for twice the bytes is not, nor is what takes no time", async () => {
  assert.equal(
    await growthOf(
      target,
      sessionOf((bytes) => 500 * bytes.length),
      { now },
    ),
    undefined,
  );
  assert.equal(
    await growthOf(
      target,
      sessionOf(() => 0),
      { now },
    ),
    undefined,
  );
});

const glance = { seed: 5, budgetMs: 60 };

test("a glance tells it, too, and stays within its time", async () => {
  const quotesIn = (bytes: Buffer) => (bytes.at(-1) === 0x22 ? bytes.length ** 2 : bytes.length);
  const told = await glaringGrowthOf(target, sessionOf(quotesIn), glance, { now });
  assert.match(told ?? "", /^32768 bytes of .* take .* ms, half of them /);
  const startMs = now();
  const slow = sessionOf((bytes) => 20 * bytes.length);
  assert.equal(await glaringGrowthOf(target, slow, glance, { now }), undefined);
  assert.ok(now() - startMs < 120, `${now() - startMs} ms`);
});
