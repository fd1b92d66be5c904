import assert from "node:assert/strict";
import { connect, createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { chat } from "../support/client.js";
import { completionJson, doneEvent, finishEvent, tokenEvent } from "../support/completion.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { clusterOf, connectionManager, protocolOf } from "./support/shipped-config.js";

/** The first tier speaks HTTP/2 and ends its answers by trailers. */
let server: Http2Server;
let play: (stream: ServerHttp2Stream) => void;
let hits = 0;
let rig: Rig;

before(async () => {
  server = createServer();
  server.on("stream", (stream) => {
    hits++;
    stream.on("error", () => {});
    stream.resume();
    stream.on("end", () => play(stream));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  rig = await startRig({
    service: false,
    policy: neverOpen,
    fixedPorts: [port],
    patch: (config) => {
      const gpu = clusterOf(config, "gpu");
      protocolOf(gpu).explicit_http_config = { http2_protocol_options: {} };
      const address = { socket_address: { address: "127.0.0.1", port_value: port } };
      const [real] = gpu.load_assignment.endpoints;
      if (real) real.lb_endpoints = [{ endpoint: { address } }];
      Object.assign(connectionManager(config), { http_protocol_options: { enable_trailers: true } });
    },
  });
});

beforeEach(() => {
  rig.reset();
  hits = 0;
});

after(async () => {
  await rig?.stop();
  server.close();
});

function answerWithTrailers(type: string, body: string): (stream: ServerHttp2Stream) => void {
  return (stream) => {
    stream.respond({ ":status": 200, "content-type": type }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1" }));
    stream.end(body);
  };
}

for (const [type, body] of [
  ["application/json", completionJson("m", "a")],
  ["text/event-stream", tokenEvent("m", "a") + finishEvent("m") + doneEvent],
  ["text/plain", "anything"],
] as const) {
  test(`${type} that ends by trailers comes whole and is a success`, async () => {
    play = answerWithTrailers(type, body);
    const success = await rig.counter("gpu", "outcome.success");
    const answer = await chat(rig.url, { stream: type === "text/event-stream", timeoutMs: 6_000 });
    assert.equal(answer.status, 200);
    assert.ok(answer.complete, answer.brokenBy);
    assert.equal(answer.text, body);
    assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
    await rig.waitForCounter("gpu", "outcome.success", success + 1);
    assert.equal(hits, 1);
  });
}

for (const [what, type, body] of [
  ["a stream with nothing but its end marker", "text/event-stream", doneEvent],
  ["a stream without a token", "text/event-stream", ": ping\n\n"],
  ["half a JSON answer", "application/json", '{"choices":[{'],
] as const) {
  test(`${what} that ends by trailers is answered by the next tier`, async () => {
    play = answerWithTrailers(type, body);
    const answer = await chat(rig.url, { stream: type === "text/event-stream", timeoutMs: 6_000 });
    assert.equal(answer.status, 200);
    assert.ok(answer.complete, answer.brokenBy);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
    assert.equal(rig.small.arrivals.length, 1);
  });
}

test("a 500 whose body ends by trailers is answered by the next tier", async () => {
  play = (stream) => {
    stream.respond({ ":status": 500, "content-type": "application/json" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1" }));
    stream.end('{"error":{"message":"Internal error"}}');
  };
  const answer = await chat(rig.url, { timeoutMs: 6_000 });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
});

test("a stream reset before headers, or before its first token, is answered by the next tier", async () => {
  play = (stream) => stream.destroy(new Error("gone"));
  assert.equal((await chat(rig.url, { stream: true })).headers["x-llm-breaker-backend"], "small");
  play = (stream) => {
    stream.respond({ ":status": 200, "content-type": "text/event-stream" });
    stream.write(": ping\n\n", () => stream.destroy(new Error("gone")));
  };
  assert.equal((await chat(rig.url, { stream: true })).headers["x-llm-breaker-backend"], "small");
});

test("a stream reset after its first token breaks for the caller and counts as a failure", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  play = (stream) => {
    stream.respond({ ":status": 200, "content-type": "text/event-stream" });
    stream.write(tokenEvent("m", "a"));
    setTimeout(() => stream.destroy(new Error("gone")), 200);
  };
  const answer = await chat(rig.url, { stream: true });
  assert.equal(answer.complete, false);
  assert.match(answer.text, /"a"/);
  await rig.waitForCounter("gpu", "outcome.failure", failures + 1);
  assert.equal(hits, 1);
  assert.equal(rig.small.arrivals.length, 0);
});

test("a caller over HTTP/2 whose request ends by trailers is served, and peeked at", async () => {
  play = () => {};
  const session = connect(rig.url);
  const started = performance.now();
  const text = await new Promise<string>((resolve, reject) => {
    const stream = session.request(
      { ":method": "POST", ":path": "/v1/chat/completions", "content-type": "application/json" },
      { waitForTrailers: true },
    );
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1" }));
    let received = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk) => {
      received += chunk;
    });
    stream.on("error", reject);
    stream.on("end", () => resolve(received));
    stream.end('{"model":"m","messages":[],"stream":true}');
  });
  session.close();
  assert.match(text, /\[DONE\]/);
  // "stream": true was seen: the silent first tier got the first-token limit, not the answer's.
  const tookMs = performance.now() - started;
  assert.ok(tookMs > 900 && tookMs < 3_500, `answered after ${tookMs} ms`);
  assert.equal(rig.small.arrivals.length, 1);
});
