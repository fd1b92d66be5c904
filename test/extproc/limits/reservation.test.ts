import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PLACES, readReservation, writeReservation } from "../../../extproc/limits/reservation.js";

const whole = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const plain = { noNullPrototype: true } as const;
const taken = fc.record({ points: whole, leavesAtMs: whole, place: fc.constantFrom(...PLACES) }, plain);
const name = fc.stringMatching(/^[A-Za-z0-9._-]{0,64}$/);
const reservation = fc.record(
  { caller: name, className: name, tokens: taken, requests: taken, concurrency: taken },
  { ...plain, requiredKeys: ["caller", "className"] },
);

test("what is written is read again", () => {
  fc.assert(
    fc.property(reservation, (given) => {
      assert.deepEqual(readReservation(writeReservation(given)), given);
    }),
  );
});

test("no text makes reading throw", () => {
  const texts = fc.oneof(fc.string({ maxLength: 2000 }), fc.json());
  fc.assert(fc.property(texts, (text) => void readReservation(text)));
});

test("negative points, unknown places and further members are no reservation", () => {
  const good = { caller: "a", className: "b", tokens: { points: 1, leavesAtMs: 1, place: "memory" } };
  assert.ok(readReservation(JSON.stringify(good)));
  const bad = [
    { ...good, tokens: { ...good.tokens, points: -1 } },
    { ...good, tokens: { ...good.tokens, points: 1.5 } },
    { ...good, tokens: { ...good.tokens, place: "disk" } },
    { ...good, more: 1 },
    { ...good, caller: "x".repeat(65) },
  ];
  for (const each of bad) assert.equal(readReservation(JSON.stringify(each)), undefined);
});
