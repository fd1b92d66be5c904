import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { chat, send, sseData } from "./client.js";
import { startUpstream, type Upstream } from "./upstream.js";
import { waitFor } from "./wait-for.js";

let upstream: Upstream;

before(async () => {
  upstream = await startUpstream();
});

beforeEach(() => {
  upstream.mode = { kind: "ok" };
  upstream.reset();
});

after(() => upstream.stop());

test("answers a chat completion as JSON or as a stream, as the request asks", async () => {
  const whole = await chat(upstream.url);
  assert.equal(JSON.parse(whole.text).choices[0].message.content, "Hello.");
  const streamed = await chat(upstream.url, { stream: true });
  assert.equal(streamed.headers["content-type"], "text/event-stream");
  assert.equal(sseData(streamed.text).at(-1), "[DONE]");
  assert.ok(streamed.complete);
});

test("gives the status, headers and body it is told to", async () => {
  upstream.mode = { kind: "status", status: 429, headers: { "retry-after": "7" }, body: "busy" };
  const answer = await chat(upstream.url);
  assert.equal(answer.status, 429);
  assert.equal(answer.headers["retry-after"], "7");
  assert.equal(answer.text, "busy");
});

test("a request's own mode wins over the upstream's", async () => {
  const byQuery = await send(
    `${upstream.url}/x?mode=${encodeURIComponent('{"kind":"status","status":418}')}`,
  );
  assert.equal(byQuery.status, 418);
  const byHeader = await send(upstream.url, { headers: { "x-upstream-mode": "doneOnly" } });
  assert.deepEqual(sseData(byHeader.text), ["[DONE]"]);
});

test("puts the error event after the good ones, under status 200", async () => {
  upstream.mode = { kind: "sseError", at: 3 };
  const data = sseData((await chat(upstream.url, { stream: true })).text);
  assert.match(data.at(-2) ?? "", /^{"error":/);
  assert.equal(data.filter((line) => line.includes("token")).length, 3);
});

test("a cut stream breaks for its client, a clean one ends without a finish reason", async () => {
  upstream.mode = { kind: "cut", at: 4, how: "rst", gapMs: 5 };
  const broken = await chat(upstream.url, { stream: true });
  assert.equal(broken.status, 200);
  assert.equal(broken.complete, false);
  assert.ok((broken.brokenAt ?? 0) > 0);
  upstream.mode = { kind: "cut", at: 4, how: "clean" };
  const clean = await chat(upstream.url, { stream: true });
  assert.ok(clean.complete);
  assert.doesNotMatch(clean.text, /"finish_reason":"stop"|DONE/);
});

test("a reset gives no status at all", async () => {
  upstream.mode = { kind: "reset" };
  const answer = await chat(upstream.url);
  assert.equal(answer.status, 0);
  assert.match(answer.brokenBy ?? "", /ECONNRESET|hang up/);
});

test("a stall sends headers and a hang sends nothing", async () => {
  upstream.mode = { kind: "stall" };
  const stalled = await chat(upstream.url, { leaveAfterMs: 60 });
  assert.equal(stalled.status, 200);
  assert.equal(stalled.body.length, 0);
  assert.equal(stalled.brokenBy, "left");
  upstream.mode = { kind: "hang" };
  assert.equal((await chat(upstream.url, { leaveAfterMs: 60 })).status, 0);
});

test("the first token comes after the time that was set, the headers at once", async () => {
  upstream.mode = { kind: "ttft", ms: 150 };
  const firstTokenMs: number[] = [];
  const startMs = performance.now();
  const answer = await chat(upstream.url, {
    stream: true,
    onData: (chunk) => {
      if (chunk.includes("token0")) firstTokenMs.push(performance.now() - startMs);
    },
  });
  assert.ok((answer.headersMs ?? 999) < 140, `headers after ${answer.headersMs} ms`);
  assert.ok((firstTokenMs[0] ?? 0) >= 145, `first token after ${firstTokenMs[0]} ms`);
});

test("raw writes reach the wire byte for byte", async () => {
  const body = "caf\xe9";
  const head = `HTTP/1.1 200 OK\r\nx-odd: \xff\xfe\r\ncontent-length: ${body.length}\r\n\r\n`;
  upstream.mode = { kind: "raw", writes: [head, body.slice(0, 3), body.slice(3)] };
  const answer = await send(upstream.url);
  assert.equal(answer.headers["x-odd"], "\xff\xfe");
  assert.deepEqual(answer.body, Buffer.from(body, "latin1"));
});

test("echo tells what came, to the byte", async () => {
  upstream.mode = { kind: "echo" };
  const body = JSON.stringify({ text: "ü".repeat(1000) });
  const echo = JSON.parse((await send(upstream.url, { body, headers: { "x-mark": "1" } })).text);
  assert.equal(echo.bytes, Buffer.byteLength(body));
  assert.equal(echo.sha256, createHash("sha256").update(body).digest("hex"));
  assert.equal(Buffer.from(echo.body, "base64").toString(), body);
  assert.equal(echo.headers["x-mark"], "1");
});

test("a big completion has the size that was asked for and a content-length", async () => {
  upstream.mode = { kind: "bigJson", bytes: 6_000_000 };
  const answer = await chat(upstream.url);
  assert.ok(answer.body.length >= 6_000_000);
  assert.equal(Number(answer.headers["content-length"]), answer.body.length);
});

test("remembers arrivals, the attempt number and how many were in flight at once", async () => {
  upstream.mode = { kind: "hang" };
  const calls = [1, 2, 3].map((attempt) =>
    chat(upstream.url, { leaveAfterMs: 200, headers: { "x-envoy-attempt-count": String(attempt) } }),
  );
  await waitFor(() => upstream.active === 3, 2_000, "three requests in flight");
  await Promise.all(calls);
  await waitFor(() => upstream.active === 0, 2_000, "no request in flight");
  assert.equal(upstream.peak, 3);
  assert.deepEqual(upstream.arrivals.map((arrival) => arrival.attempt).sort(), [1, 2, 3]);
  assert.ok(upstream.arrivals.every((arrival) => arrival.ended === "left"));
});

test("a mode may be chosen per request", async () => {
  upstream.mode = ({ index }) => (index < 2 ? { kind: "status", status: 500 } : { kind: "ok" });
  const statuses = [];
  for (let call = 0; call < 3; call++) statuses.push((await chat(upstream.url)).status);
  assert.deepEqual(statuses, [500, 500, 200]);
});
