// Filter state and metadata, which come back through Envoy as texts: whoever forges one must not get far.
import assert from "node:assert/strict";
import { CANARY_ATTRIBUTE, readCanaryLimits } from "../../../extproc/count/canary-ask.js";
import { readReservation, writeReservation } from "../../../extproc/limits/reservation.js";
import { REPLY_ATTRIBUTE, readInstruction } from "../../../extproc/reply/instruction.js";
import { sessionOf, toBuffers } from "../support/plain-session.js";
import type { Target } from "../target.js";

const taken = '{"points":3,"leavesAtMs":9,"place":"both"}';

export const serviceStates: Target = {
  name: "service-states",
  parsers: ["extproc/count/canary-ask.ts", "extproc/limits/reservation.ts", "extproc/reply/instruction.ts"],
  seeds: toBuffers([
    `{"caller":"c","className":"batch","tokens":${taken},"requests":${taken},"concurrency":${taken}}`,
    '{"maxPromptTokens":256,"maxOutputTokens":64}',
    '{"action":"fixed","status":503,"text":"later"}',
    '{"action":"cached","maxAgeSeconds":60.5}',
  ]),
  words: ['"place":"redis"', '"points":', "-1", "0.5", "1e300", '"status":600', '"action":"fixed"'],
  open: sessionOf((bytes) => {
    const text = bytes.toString("utf8");
    const limits = readCanaryLimits(new Map([[CANARY_ATTRIBUTE, text]]));
    const instruction = readInstruction(new Map([[REPLY_ATTRIBUTE, text]]));
    const reservation = readReservation(text);
    if (reservation !== undefined) {
      assert.deepEqual(
        readReservation(writeReservation(reservation)),
        reservation,
        "read again it is another one",
      );
      assert.ok((reservation.tokens?.points ?? 0) >= 0, "points are given, not taken");
    }
    if (limits !== undefined)
      assert.ok(limits.maxPromptTokens >= 0 && Number.isSafeInteger(limits.maxPromptTokens));
    const told = [limits, instruction?.action, reservation && Object.keys(reservation).length];
    return told.every((part) => part === undefined)
      ? ""
      : told.map((part) => typeof part + String(part)).join();
  }),
};
