import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Alias, CLOSED, OPEN, type Rig, staysOpen } from "../e2e/support/rig.js";
import { chat } from "../support/client.js";
import { completionJson, doneEvent, finishEvent, roleEvent, tokenEvent } from "../support/completion.js";
import type { Upstream } from "../support/upstream.js";
import { askAlone, startAloneRig } from "./support/alone.js";

const failuresToOpen = 5;
let rig: Rig;

before(async () => {
  rig = await startAloneRig({
    consecutiveFailuresThreshold: failuresToOpen,
    failureRateThreshold: 0,
    ...staysOpen,
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

const errorEvent = 'data: {"error":{"message":"Something went wrong","type":"server_error","code":500}}\n\n';
const fiveTokens = [roleEvent("m"), ...Array.from({ length: 5 }, (_, at) => tokenEvent("m", ` token${at}`))];

/** Text that is all about errors, as a coding assistant's often is; JSON escapes its quotes. */
const talkOfErrors = [
  "error",
  'Servers answer with {"error":{"message":"EngineCore encountered an issue"}} then.',
  '\n\ndata: {"error": {"code": 500}}\n\n',
  "CUDA error: an illegal memory access was encountered",
];

// First, while every backend is still closed.
test("OUT-1 (d): good text whose content is about errors is a success, streamed or in one piece", async () => {
  const success = await rig.counter("gpu", "outcome.success");
  const events = [
    roleEvent("m"),
    ...talkOfErrors.map((text) => tokenEvent("m", text)),
    finishEvent("m"),
    doneEvent,
  ];
  const json = completionJson("m", talkOfErrors.join(" "));
  for (let call = 0; call < failuresToOpen; call++) {
    rig.gpu.mode = { kind: "chunks", writes: events };
    assert.equal((await askAlone(rig, "gpu", { stream: true })).text, events.join(""));
    rig.gpu.mode = { kind: "chunks", headers: { "content-type": "application/json" }, writes: [json] };
    assert.equal((await askAlone(rig, "gpu")).text, json);
  }
  assert.equal(await rig.state("gpu"), CLOSED);
  assert.equal(await rig.counter("gpu", "outcome.success"), success + 2 * failuresToOpen);
  assert.equal(await rig.counter("gpu", "outcome.failure"), 0);
});

const failing: readonly [what: string, alias: Alias, upstream: () => Upstream, writes: string[]][] = [
  ["(a): an error as the first event, then the end marker,", "gpu", () => rig.gpu, [errorEvent, doneEvent]],
  ["(b): an error after five good deltas", "small", () => rig.small, [...fiveTokens, errorEvent, doneEvent]],
];

for (const [what, alias, upstream, writes] of failing) {
  test(`OUT-1 ${what} is a failure, opens, and reaches its client unchanged`, async () => {
    for (let call = 1; call <= failuresToOpen; call++) {
      assert.equal(await rig.state(alias), CLOSED, `before failure ${call}`);
      upstream().mode = { kind: "chunks", writes };
      const answer = await askAlone(rig, alias, { stream: true });
      assert.equal(answer.status, 200);
      assert.equal(answer.text, writes.join(""));
    }
    await assertOpenedByFailures(alias);
  });
}

// Mutation: filter/meter/verdict.ts, "isWhole(answer) && !hasHole ? Outcome.SUCCESS : Outcome.FAILURE" -> "Outcome.SUCCESS": this test fails.
test("OUT-1 (c): a 200 with nothing but the end marker is a failure, opens, and its client is told of an error", async () => {
  for (let call = 1; call <= failuresToOpen; call++) {
    assert.equal(await rig.state("public"), CLOSED, `before failure ${call}`);
    rig.public_.mode = { kind: "doneOnly" };
    const answer = await askAlone(rig, "public", { stream: true });
    // Unchanged it would look like a whole answer of no words.
    assert.ok(answer.status >= 500, `${answer.status} ${answer.text}`);
    assert.equal(typeof JSON.parse(answer.text).error.message, "string");
  }
  await assertOpenedByFailures("public");
});

async function assertOpenedByFailures(alias: Alias): Promise<void> {
  await rig.waitForState(OPEN, alias);
  assert.equal(rig.transitions(alias).at(-1)?.cause, "CONSECUTIVE_FAILURES");
  assert.equal(await rig.counter(alias, "outcome.failure"), failuresToOpen);
}

test("OUT-1: with every tier open nothing reaches them any more", async () => {
  const answer = await chat(rig.url, { stream: true });
  assert.equal(answer.status, 503);
  assert.deepEqual(rig.hits, [0, 0, 0]);
});
