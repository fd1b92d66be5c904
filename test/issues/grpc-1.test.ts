import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type AskingRig, completionOf, countedBy, startAskingRig } from "../support/asking-rig.js";

/** Of the shipped ext_proc filters. */
const messageTimeoutMs = 1000;
/** What Envoy, the upstream and busy cores may take beside it. */
const marginMs = 1000;

let rig: AskingRig | undefined;

afterEach(() => rig?.stop());

test("GRPC-1 (a): keepalive pings and a long answer never cost a connection", async () => {
  // A role that nobody has keeps its stream open until the answer ends: the longest silence there is.
  const http2 = { connection_keepalive: { interval: "0.05s", timeout: "2s" } };
  const running = await startAskingRig({ role: "none", http2 });
  rig = running;
  running.upstream.mode = { kind: "sse", events: 20, gapMs: 150 };
  const answer = await running.ask(1);
  assert.equal(answer.status, 200);
  assert.ok(answer.complete);
  assert.ok(answer.totalMs > 2500);
  assert.equal(await running.connections("upstream_cx_total"), 1);
  assert.equal(await running.connections("upstream_cx_destroy"), 0);
  assert.equal(await running.connections("http2.keepalive_timeout"), 0);
  assert.equal(await running.asked("streams_failed"), 0);
  assert.deepEqual(running.service.log.matching(/unhandled/i), []);
});

test("GRPC-1: a message over the service's limit costs its own request the count, and nobody anything else", async () => {
  const running = await startAskingRig({ config: { maxBodyBytes: 1024 } });
  rig = running;
  const tokens = 700_000;
  const [large, small] = await Promise.all([running.ask(tokens), running.ask(3)]);
  assert.ok(completionOf(tokens).length > 1_048_576 + 1024);
  assert.deepEqual([large.status, countedBy(large)], [200, undefined]);
  assert.deepEqual([small.status, countedBy(small)], [200, 3]);
  assert.equal(await running.asked("streams_failed"), 1);
  assert.equal(await running.connections("upstream_cx_total"), 1);
});

test("GRPC-1 (c): no request fails or hangs when the service stops under 50 requests a second, or comes back", async () => {
  const running = await startAskingRig();
  rig = running;
  assert.equal(countedBy(await running.ask(5)), 5);
  const calls: Promise<{ status: number; totalMs: number; counted: number | undefined; tokens: number }>[] =
    [];
  let isOver = false;
  const load = (async () => {
    for (let tokens = 1; !isOver; tokens++) {
      const call = running.ask(tokens);
      calls.push(
        call.then((answer) => ({
          status: answer.status,
          totalMs: answer.totalMs,
          counted: countedBy(answer),
          tokens,
        })),
      );
      await delay(20);
    }
  })();
  await delay(1000);
  assert.equal(await running.service.stop(), "exit code 0");
  await delay(500);
  await running.startServiceAgain();
  await delay(1000);
  isOver = true;
  await load;
  const answers = await Promise.all(calls);
  assert.deepEqual(
    answers.filter(({ status }) => status !== 200),
    [],
  );
  assert.deepEqual(
    answers.filter(({ totalMs }) => totalMs > messageTimeoutMs + marginMs),
    [],
  );
  assert.deepEqual(
    answers.filter(({ counted, tokens }) => counted !== undefined && counted !== tokens),
    [],
  );
  assert.equal(answers[0]?.counted, 1);
  assert.ok(answers.some(({ counted }) => counted === undefined));
  assert.equal(answers.at(-1)?.counted, answers.length);
});
