import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { AttemptedRequest } from "./attempt.js";
import { readRecord } from "./backend-record.js";
import { HeaderMap } from "./host/header-map.js";
import type { Stream } from "./host/stream.js";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { recoverToRamp } from "./recovery.js";
import { type BackendAnswer, Worker } from "./worker.js";

const slowMs = 2_000;
const tickMs = 250;
/** The mock host's connection is ready so long after the attempt began: the clock starts then. */
const poolMs = 1;
const overdueMs = slowMs + poolMs + 1;
const streamBody = '{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":16,"stream":true}';
const token = 'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n';
const inOnePiece =
  '{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"completion_tokens":2}}';
const eventHead = { ":status": "200", "content-type": "text/event-stream" };

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
  worker = new Worker(world, policy());
});

function policy(breaker: object = {}): string {
  const slow = { slowFirstTokenThreshold: `${slowMs}ms`, slowFirstTokenPerPromptToken: "0ms" };
  return policyWith({ ...slow, slowCallRateThreshold: 0, latencyDriftThreshold: 0, ...breaker });
}

/** Calls that have come to gpu and wait; the gate has let them pass. */
function begin(count: number, body = streamBody, at = worker): Stream[] {
  return Array.from({ length: count }, () => new AttemptedRequest(at, body).start({ backend: "gpu" }));
}

function tick(afterMs = tickMs, at = worker): void {
  world.clock.advance(afterMs);
  at.vm.tick(at.meter);
}

function answer(stream: Stream): void {
  stream.responseHeaders(new HeaderMap(eventHead));
  stream.responseBody(`${token}data: [DONE]\n\n`, true);
  stream.endUpstream();
}

const state = () => readRecord(world, "gpu").state;
const slow = () => {
  worker.flushCounters();
  return world.metrics.value("llm_breaker.gpu.slow");
};

describe("streams that wait for their first token longer than a slow one takes", () => {
  test("open their backend while they still wait", () => {
    begin(10);
    tick(slowMs + poolMs);
    assert.equal(state(), "CLOSED", "at the threshold nobody is slow");
    tick();
    assert.equal(state(), "OPEN");
    const told = worker.vm.logs.filter(({ text }) => text.includes("CONSECUTIVE_SLOW_CALLS"));
    assert.equal(told.length, 1);
    assert.match(told[0]?.text ?? "", /"consecutiveSlowCalls":10,"threshold":10/);
  });

  test("do so with headers and without, and over workers", () => {
    const other = new Worker(world, policy());
    for (const stream of begin(4)) stream.responseHeaders(new HeaderMap(eventHead));
    begin(6, streamBody, other);
    tick(overdueMs);
    assert.equal(state(), "CLOSED");
    tick(0, other);
    assert.equal(state(), "OPEN");
  });

  test("are told apart from the one that is in time after them", () => {
    const waiting = begin(9);
    tick(overdueMs);
    const [quick] = begin(1);
    assert.ok(quick);
    answer(quick);
    tick();
    begin(9);
    tick(overdueMs);
    assert.equal(state(), "CLOSED");
    for (const stream of waiting) answer(stream);
    tick();
    assert.equal(state(), "CLOSED", "what was counted as it waited is counted once");
  });

  test("are counted once, and their time is known all the same", () => {
    const [stream] = begin(1);
    assert.ok(stream);
    for (let count = 0; count < 4; count++) tick(slowMs);
    assert.equal(slow(), 1);
    answer(stream);
    tick();
    assert.equal(slow(), 1);
    assert.deepEqual(world.metrics.samples("llm_breaker.gpu.first_token_ms"), [4 * slowMs - poolMs]);
  });
});

describe("answers in time whose first token can't be seen", () => {
  const answers: Readonly<Record<string, Record<string, string>>> = {
    "in a coding": { ...eventHead, "content-encoding": "gzip" },
    "in one piece": { ":status": "200", "content-type": "application/json" },
    "on a path that is not read": { ":status": "200", "content-type": "application/x-ndjson" },
  };
  for (const [kind, head] of Object.entries(answers))
    test(`${kind} end a row of slow calls, too`, () => {
      for (let count = 0; count < 12; count++) {
        begin(1);
        tick(overdueMs);
        begin(1)[0]?.responseHeaders(new HeaderMap(head));
        tick();
      }
      assert.equal(slow(), 12);
      assert.equal(state(), "CLOSED");
    });

  test("and tell their usage are counted once, overdue and slow by each token", () => {
    worker = new Worker(world, policy({ slowTokenTime: "1ms" }));
    const [stream] = begin(1);
    assert.ok(stream);
    tick(overdueMs);
    stream.responseHeaders(new HeaderMap({ ":status": "200", "content-type": "application/json" }));
    stream.responseBody(inOnePiece, true);
    stream.endUpstream();
    tick();
    assert.equal(slow(), 1);
  });
});

describe("what is not overdue", () => {
  test("an answer in one piece", () => {
    begin(20, streamBody.replace(',"stream":true', ""));
    tick(slowMs * 4);
    assert.equal(state(), "CLOSED");
    assert.equal(slow(), 0);
  });

  test("a request that waits for a connection, or that its caller is still sending", () => {
    for (const stream of begin(20)) {
      stream.context.properties = {
        ...stream.context.properties,
        upstream: { local_address: "127.0.0.1:40000" },
      };
    }
    for (let count = 0; count < 20; count++) {
      const { scope, headers } = new AttemptedRequest(worker, streamBody);
      worker.openMeter(scope, "gpu").requestHeaders(headers, false);
    }
    tick(slowMs * 2);
    assert.equal(state(), "CLOSED");
    assert.equal(slow(), 0);
  });

  test("a call that got its connection late counts from then", () => {
    for (const stream of begin(20)) {
      stream.context.properties = {
        ...stream.context.properties,
        upstream: { local_address: "127.0.0.1:40000", cx_pool_ready_duration: BigInt(slowMs) * 1_000_000n },
      };
    }
    tick(slowMs * 2);
    assert.equal(state(), "CLOSED");
    tick();
    assert.equal(state(), "OPEN");
  });
});

describe("a canary whose first token is late", () => {
  const stages = [{ percent: 100, maxConcurrent: 2, successes: 2 }];

  function canary(firstTokenMs: number): void {
    const late: BackendAnswer = { headers: eventHead, body: [token, "data: [DONE]\n\n"] };
    const { attempts } = worker.send({
      body: [streamBody],
      answer: (cluster) => {
        if (cluster === "gpu") world.clock.advance(firstTokenMs + poolMs);
        return late;
      },
    });
    assert.equal(attempts[0]?.cluster, "gpu");
  }

  test("is no vote: the ramp goes on until canaries come in time", () => {
    worker = new Worker(
      world,
      policy({
        waitDurationInOpenState: "1s",
        canary: { size: "estimate" },
        ramp: stages,
        probe: { firstTokenMax: "1s" },
      }),
    );
    recoverToRamp(world, worker);
    for (let count = 0; count < 5; count++) canary(slowMs + 1);
    assert.equal(state(), "HALF_OPEN");
    canary(slowMs);
    canary(slowMs);
    assert.equal(state(), "CLOSED");
  });
});
