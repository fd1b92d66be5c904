import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import type { Header } from "./host/header-map.js";
import { seededRandom } from "./host/random.js";
import { World } from "./host/world.js";
import { neverOpens, policyWith } from "./policy.js";
import { Worker } from "./worker.js";

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
  worker = new Worker(world, policyWith(neverOpens));
});

const everyByte = String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte));
const highBytes = everyByte.slice(0x80);

function assertStillServes(): void {
  const { status, attempts } = worker.send();
  assert.deepEqual([status, attempts.length], [200, 1]);
  assert.equal(worker.vm.liveContexts, 3);
}

const headerRubbish: Readonly<Record<string, readonly Header[]>> = {
  "bytes that are not UTF-8": [
    ["x-odd", highBytes],
    ["authorization", `Bearer ${highBytes}`],
    ["cookie", everyByte.slice(1)],
  ],
  "empty values": [
    ["authorization", ""],
    ["cookie", ""],
    ["accept-encoding", ""],
    ["openai-organization", ""],
    ["x-empty", ""],
  ],
  "values of 60 KB": [
    ["cookie", "c".repeat(60_000)],
    ["x-long", highBytes.repeat(470)],
    ["openai-project", "p".repeat(60_000)],
  ],
  "200 headers": Array.from(
    { length: 200 },
    (_, index): Header => [`openai-${index}`, `${index}`.repeat(20)],
  ),
  "2000 headers that may change": Array.from({ length: 2000 }, (): Header => ["cookie", "a=b; ".repeat(40)]),
  "rubbish in our own names": ["NaN", "1e309", "-1", "9".repeat(20), highBytes].flatMap((value): Header[] => [
    ["x-llm-breaker-retry", value],
    ["x-llm-breaker-probe", value],
    ["x-llm-breaker-tokens", value],
    ["content-length", value],
    ["x-envoy-upstream-rq-per-try-timeout-ms", value],
  ]),
};

describe("WASM-4: no byte that a client or a backend can send traps the VM", () => {
  for (const [what, headers] of Object.entries(headerRubbish)) {
    test(`request headers with ${what}`, () => {
      for (let count = 0; count < 20; count++) worker.send({ headers });
      assertStillServes();
    });

    test(`response headers with ${what}`, () => {
      for (let count = 0; count < 20; count++) {
        const json: Header[] = [[":status", "200"], ["content-type", "application/json"], ...headers];
        worker.send({ answer: () => ({ headers: json, body: ["{}"] }) });
        const events: Header[] = [[":status", "200"], ["content-type", "text/event-stream"], ...headers];
        worker.send({ answer: () => ({ headers: events, body: ["data: {}\n\n"] }) });
        worker.send({
          answer: () => ({ status: 503, headers: [["retry-after", "9".repeat(30)], ...headers] }),
        });
      }
      assertStillServes();
    });
  }

  test("a status that is no number, and none at all", () => {
    for (const status of ["", "abc", "-1", "99999999999999999999", highBytes]) {
      worker.send({ answer: () => ({ headers: [[":status", status]], body: ["x"] }) });
    }
    worker.send({ answer: () => ({ headers: [["server", "x"]], body: ["x"] }) });
    assertStillServes();
  });

  test("event streams and JSON with invalid UTF-8, whatever the chunks' borders", () => {
    const event = Buffer.concat([
      Buffer.from('data: {"choices":[{"delta":{"content":"é'),
      Buffer.from(highBytes, "latin1"),
      Buffer.from('"},"finish_reason":null}]}\r\n\r\ndata: [DONE]\r\n\r\n'),
    ]);
    for (let size = 1; size <= event.length; size += size < 20 ? 1 : 37) {
      const body: Buffer[] = [];
      for (let at = 0; at < event.length; at += size) body.push(event.subarray(at, at + size));
      for (const type of ["text/event-stream", "application/json"]) {
        worker.send({ body, answer: () => ({ status: 200, headers: { "content-type": type }, body }) });
        worker.send({ answer: () => ({ status: 500, headers: { "content-type": type }, body, cut: true }) });
      }
    }
    assertStillServes();
  });

  test("a body that nests deeper than any stack, and strings without an end", () => {
    const deep = [
      "[".repeat(200_000),
      '{"a":'.repeat(50_000),
      `"${"\\".repeat(99_999)}`,
      `{"model":"${"x".repeat(500_000)}`,
    ];
    for (const body of deep) {
      worker.send({ body: [body] });
      worker.send({
        answer: () => ({ status: 200, headers: { "content-type": "application/json" }, body: [body] }),
      });
      const events = [`data: ${body}\n\n`];
      worker.send({
        answer: () => ({ status: 200, headers: { "content-type": "text/event-stream" }, body: events }),
      });
    }
    assertStillServes();
  });

  test("3,000 mutations of real traffic", () => {
    const random = seededRandom(42);
    const seeds = [
      'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}\n\ndata: [DONE]\n\n',
      '{"error":{"message":"CUDA error: out of memory","type":"InternalServerError","code":500}}',
      '{"model":"m","stream":true,"max_tokens":16,"messages":[{"role":"user","content":"hi"}],"n":2}',
    ];
    for (let count = 0; count < 3000; count++) {
      const bytes = mutate(Buffer.from(seeds[count % 3] ?? ""), random);
      const at = Math.floor(random() * bytes.length);
      const body = [bytes.subarray(0, at), bytes.subarray(at)];
      const type = count % 2 === 0 ? "text/event-stream" : "application/json";
      const status = count % 5 === 0 ? 500 : 200;
      worker.send({
        body,
        answer: () => ({ status, headers: { "content-type": type }, body, cut: random() < 0.2 }),
      });
      world.clock.advance(50);
    }
    assertStillServes();
  });

  test("rubbish in shared data and filter state, which another version of the filter may have left there", () => {
    const random = seededRandom(9);
    const good = new Map(world.shared.keys.map((key) => [key, world.shared.peek(key) ?? Buffer.alloc(0)]));
    for (let count = 0; count < 500; count++) {
      for (const [key, value] of good) world.shared.set(key, mutate(value, random), 0);
      worker.send();
      worker.vm.tick(worker.gate);
      worker.vm.tick(worker.meter);
      world.clock.advance(100);
    }
    for (const [key, value] of good) world.shared.set(key, value, 0);
    assertStillServes();
  });

  test("rubbish in filter state spoils neither its own request nor those that live beside it", () => {
    const neighbours = Array.from({ length: 40 }, () => openAttempt());
    const lyingPairs = [0, 0x7fffffff, 0xffffffff].map((size) => {
      const bytes = Buffer.alloc(12);
      for (const [index, word] of [1, size, 0xffffffff - size].entries())
        bytes.writeUInt32LE(word, index * 4);
      return bytes;
    });
    const sizes = [0, 1, 3, 4, 12, 40, 64, 104, 200, 5000];
    const rubbish = ["\x00", "\x01", "\x7f", "\xff"].flatMap((byte) =>
      sizes.map((size) => Buffer.alloc(size, byte, "latin1")),
    );
    for (const bytes of [...rubbish, ...lyingPairs]) {
      const scope = worker.newScope();
      for (const name of ["request", "original", "step", "backend", "answer", "before"])
        scope.filterState.set(`llm.breaker.${name}`, bytes);
      const meter = worker.openMeter(scope, "gpu");
      meter.requestHeaders(worker.plainHeaders(), true);
      meter.endUpstream();
      for (const name of ["request", "original", "answer", "before"]) {
        worker.send({
          answer: (_cluster, attempt, live) => {
            if (attempt === 1) live.filterState.set(`llm.breaker.${name}`, bytes);
            return { status: 500, body: ["no"] };
          },
        });
      }
    }
    worker.fileSuccesses();
    const { successes } = readRecord(world, "gpu");
    for (const { meter, gate } of neighbours) {
      meter.responseHeaders(worker.headersOf({ ":status": "204" }), true);
      meter.endUpstream();
      gate.endDownstream();
    }
    worker.fileSuccesses();
    assert.equal(readRecord(world, "gpu").successes, successes + neighbours.length);
    assertStillServes();
  });
});

function openAttempt() {
  const scope = worker.newScope();
  const gate = worker.openGate(scope);
  gate.requestHeaders(worker.plainHeaders(), true);
  const meter = worker.openMeter(scope, "gpu");
  meter.requestHeaders(worker.plainHeaders(), true);
  return { gate, meter };
}

/** Flips, cuts, doubles or inserts a few bytes. */
function mutate(bytes: Buffer, random: () => number): Buffer {
  let mutated = Buffer.from(bytes);
  for (let change = 0; change < 1 + Math.floor(random() * 4); change++) {
    const at = Math.floor(random() * mutated.length);
    const kind = random();
    if (kind < 0.5 && mutated.length > 0) mutated[at] = Math.floor(random() * 256);
    else if (kind < 0.65) mutated = mutated.subarray(0, at);
    else if (kind < 0.8) mutated = Buffer.concat([mutated, mutated.subarray(at)]);
    else
      mutated = Buffer.concat([mutated.subarray(0, at), Buffer.from([0, 255, 34, 92]), mutated.subarray(at)]);
  }
  return mutated;
}
