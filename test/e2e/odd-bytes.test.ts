import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chat, send } from "../support/client.js";
import { rawCall } from "./support/raw-call.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";

let rig: Rig;
let vmsAtStart: [string, number][];

const everyHighByte = String.fromCharCode(...Array.from({ length: 128 }, (_, index) => 128 + index));
const allBytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));

before(async () => {
  rig = await startRig({ service: false, policy: neverOpen });
  vmsAtStart = await vmStats();
});

after(() => rig.stop());

async function vmStats(): Promise<[string, number][]> {
  return [...(await rig.envoy.stats("^wasm\\."))].filter(([name]) => !name.includes("remote_load"));
}

async function assertUnharmed(): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, call) => chat(rig.url, { stream: call % 2 === 0 })),
  );
  assert.ok(answers.every(({ status }) => status === 200));
  assert.deepEqual(await vmStats(), vmsAtStart);
  assert.equal(
    rig.envoy.log.matching(/Function: .* failed|Uncaught|unreachable|out of bounds|wasm_fail/).length,
    0,
  );
}

const post = (headers: string, body: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`;

test("there are VMs to look at", () => {
  assert.ok(
    vmsAtStart.some(([name, value]) => /active|created/.test(name) && value > 0),
    JSON.stringify(vmsAtStart),
  );
});

test("odd bytes in request headers trap nothing", async () => {
  const headers = [
    `x-odd: ${everyHighByte}\r\n`,
    `authorization: ${everyHighByte}\r\ncookie: ${everyHighByte}\r\napi-key: \r\n`,
    `x-llm-breaker-${"x".repeat(3_000)}: ${everyHighByte}\r\nx-llm-breaker-: 1\r\nx-envoy-: 1\r\n`,
    `x-big: ${"x".repeat(55_000)}\r\n`,
    `authorization: ${"x".repeat(30_000)}\r\ncookie: ${"y".repeat(20_000)}\r\n`,
    Array.from({ length: 90 }, (_, index) => `openai-x-${index}: ${everyHighByte}\r\n`).join(""),
    "content-type: \r\ncontent-encoding: ,,,\r\naccept-encoding: \xff\r\n",
  ];
  rig.gpu.mode = { kind: "status", status: 500 };
  for (const header of headers) {
    const answer = await rawCall(rig.url, post(header, '{"stream":true}'));
    assert.match(answer, /^HTTP\/1\.1 (200|400|431)/, header.slice(0, 40));
  }
  rig.reset();
  await assertUnharmed();
});

test("odd paths, methods and hosts trap nothing", async () => {
  for (const line of [
    `GET /${"a".repeat(50_000)} HTTP/1.1`,
    "GET /%00%ff?%zz HTTP/1.1",
    "OPTIONS * HTTP/1.1",
    "PATCH /v1/chat/completions HTTP/1.1",
    "DELETE / HTTP/1.1",
  ]) {
    await rawCall(rig.url, `${line}\r\nhost: ${"h".repeat(200)}\r\nconnection: close\r\n\r\n`);
  }
  await assertUnharmed();
});

test("odd bytes in request bodies trap nothing and arrive as they were", async () => {
  const bodies = [
    allBytes,
    Buffer.alloc(0),
    Buffer.from("\0".repeat(1000)),
    Buffer.from(`{"model":"${"\\".repeat(9)}`),
    Buffer.from(`{"model":"${everyHighByte}","max_tokens":1e309,"n":-1,"stream":"maybe"}`, "latin1"),
    Buffer.from('{"max_tokens":99999999999999999999999999,"stream":true,"stream":false,"n":1e99}'),
    Buffer.from("[".repeat(60_000)),
    Buffer.from(`{"a":${'{"a":'.repeat(15_000)}`),
    Buffer.from(`"${"a".repeat(90_000)}`),
  ];
  for (const body of bodies) {
    for (const chunked of [false, true]) {
      rig.reset();
      const answer = await send(`${rig.url}/v1/chat/completions`, { body, chunked });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(rig.gpu.arrivals[0]?.body, body);
    }
  }
  rig.reset();
  await assertUnharmed();
});

test("odd bytes in answers trap nothing and reach the caller or the next tier", async () => {
  const head = (type: string) => `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n`;
  const answers = [
    `${head("text/event-stream")}x-odd: ${everyHighByte}\r\n\r\ndata: ${everyHighByte}\n\n`,
    `${head("text/event-stream")}\r\n${everyHighByte.repeat(500)}`,
    `${head("text/event-stream")}\r\ndata: {"choices":[{"delta":{"content":"${everyHighByte}"},"finish_reason":"stop"}]}\n\n`,
    `${head("text/event-stream")}\r\n${"data:\n".repeat(5_000)}\n`,
    `${head("text/event-stream")}\r\ndata: ${'{"error":'.repeat(5_000)}\n\n`,
    `${head("application/json")}\r\n${"\0".repeat(5_000)}`,
    `${head("application/json")}content-length: 99999999999999999999\r\n\r\n{}`,
    `${head("application/json")}retry-after: ${everyHighByte}\r\n\r\n{"error":{"message":"${"\\ud800".repeat(2_000)}"}}`,
    `HTTP/1.1 500 ${everyHighByte}\r\ncontent-type: ${everyHighByte}\r\n\r\n${everyHighByte}`,
    `HTTP/1.1 503 X\r\nretry-after: 99999999999999999999\r\nx-llm-breaker-retry: ${everyHighByte}\r\n\r\n`,
    `HTTP/1.1 429 X\r\nretry-after: -5\r\nx-big: ${"x".repeat(50_000)}\r\n\r\n`,
    "HTTP/1.1 999 Odd\r\n\r\nodd",
    "not http at all",
  ];
  for (const bytes of answers) {
    rig.reset();
    rig.gpu.mode = { kind: "raw", writes: [bytes] };
    for (const stream of [false, true]) {
      const answer = await chat(rig.url, { stream, timeoutMs: 8_000 });
      assert.notEqual(answer.status, 0, bytes.slice(0, 60));
    }
  }
  rig.reset();
  await assertUnharmed();
});
