import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Alias, CLOSED, OPEN, type Rig, staysOpen } from "../e2e/support/rig.js";
import type { Upstream } from "../support/upstream.js";
import type { Mode } from "../support/upstream-mode.js";
import { askAlone, startAloneRig } from "./support/alone.js";

const leastCalls = 10;
let rig: Rig;

before(async () => {
  rig = await startAloneRig(
    {
      minimumNumberOfCalls: leastCalls,
      failureRateThreshold: 35,
      consecutiveFailuresThreshold: 0,
      slidingWindowSize: 120,
      ...staysOpen,
    },
    {
      policy: ({ backends }) => {
        const outcomes = { failure: [404], neutral: ["5xx"], backpressure: [422], success: [409] };
        backends.small = { ...backends.small, breaker: { outcomes } };
      },
    },
  );
});

beforeEach(() => rig.reset());

after(() => rig.stop());

const refusal = (status: number, code: string): Mode => ({
  kind: "status",
  status,
  body: JSON.stringify({
    error: { message: `The request is at fault: ${code}.`, type: "bad_request", code },
  }),
});

const refusals: readonly Mode[] = [
  refusal(400, "context_length_exceeded"),
  refusal(400, "content_filter"),
  refusal(401, "invalid_api_key"),
  refusal(404, "model_not_found"),
  refusal(413, "context_length_exceeded"),
  refusal(422, "invalid_parameter"),
];

async function meet(alias: Alias, upstream: Upstream, mode: Mode, times: number): Promise<void> {
  upstream.mode = mode;
  const calls = Array.from({ length: times }, () => askAlone(rig, alias));
  for (const answer of await Promise.all(calls)) {
    if (mode.kind === "status") assert.equal(answer.status, mode.status);
    if (mode.kind === "status" && mode.body) assert.equal(answer.text, mode.body);
  }
}

// Mutation: filter/meter/verdict.ts, "isBadStatus(slot.status) ? Outcome.FAILURE : Outcome.NEUTRAL" -> "… : Outcome.SUCCESS": this test fails.
test("OUT-6: what is wrong with a request opens nothing, and hides no failure of the backend", async () => {
  for (const mode of refusals) await meet("gpu", rig.gpu, mode, 40);
  assert.equal(await rig.state("gpu"), CLOSED);
  assert.equal(await rig.counter("gpu", "outcome.neutral"), 40 * refusals.length);
  assert.equal(await rig.counter("gpu", "outcome.failure"), 0);
  assert.equal(await rig.counter("gpu", "outcome.success"), 0);

  await meet("gpu", rig.gpu, { kind: "status", status: 500 }, leastCalls - 1);
  assert.equal(await rig.state("gpu"), CLOSED, "opened below the least number of calls");
  await meet("gpu", rig.gpu, { kind: "status", status: 500 }, 1);
  assert.equal(await rig.state("gpu"), OPEN, "the refusals diluted the failures");
  assert.equal(rig.transitions("gpu").at(-1)?.cause, "FAILURE_RATE");
});

test("OUT-6: which statuses are failures, and which are not, is each backend's own setting", async () => {
  const plain = (status: number): Mode => ({ kind: "status", status });
  await meet("small", rig.small, plain(503), 2 * leastCalls);
  await meet("small", rig.small, plain(500), 2 * leastCalls);
  assert.equal(await rig.counter("small", "outcome.failure"), 0);
  assert.equal(await rig.counter("small", "outcome.neutral"), 4 * leastCalls);
  await meet("small", rig.small, plain(422), 3);
  assert.equal(await rig.counter("small", "outcome.backpressure"), 3);
  await meet("small", rig.small, plain(409), 3);
  assert.equal(await rig.counter("small", "outcome.success"), 3);
  assert.equal(await rig.state("small"), CLOSED);
  await meet("small", rig.small, plain(404), leastCalls);
  assert.equal(await rig.state("small"), OPEN);
  assert.equal(rig.transitions("small").at(-1)?.cause, "FAILURE_RATE");
  // public has the defaults still.
  await meet("public", rig.public_, plain(404), leastCalls);
  assert.equal(await rig.counter("public", "outcome.failure"), 0);
});
