import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { afterEach, test } from "node:test";
import type { CreateGuard } from "../../../bench/race/racers/proxy/guard.js";
import { BreakerProxy } from "../../../bench/race/racers/proxy/proxy.js";
import { freePort } from "../ports.js";

const open: { close(): unknown; closeAllConnections?(): void }[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) {
    each.closeAllConnections?.();
    await each.close();
  }
});

interface Engine {
  readonly port: number;
  /** Requests that it got. */
  readonly hits: () => number;
}

async function engine(listener: RequestListener): Promise<Engine> {
  let hits = 0;
  const server: Server = createServer((request, response) => {
    hits++;
    request.resume();
    listener(request, response);
  });
  const port = await freePort();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  open.push(server);
  return { port, hits: () => hits };
}

const says =
  (text: string, status = 200): RequestListener =>
  (_, response) =>
    response.writeHead(status, { "content-type": "text/event-stream" }).end(text);

/** Guards that let all calls through, and keep what a breaker would have been told. */
function watching(): { createGuard: CreateGuard; failures: unknown[] } {
  const failures: unknown[] = [];
  const createGuard: CreateGuard =
    ({ isFailure }) =>
    (call, firstByteMs) =>
      call(AbortSignal.timeout(firstByteMs)).catch((error: unknown) => {
        if (isFailure(error)) failures.push(error);
        throw error;
      });
  return { createGuard, failures };
}

async function proxyTo(
  nodes: readonly Engine[],
  fallback: Engine,
  { createGuard } = watching(),
): Promise<string> {
  const settings = {
    firstEventMs: 100,
    wholeMs: 300,
    fallbackMs: 2000,
    stallMs: 2000,
    capacity: 8,
    waitMs: 100,
  };
  const ports = { nodes: nodes.map(({ port }) => port), fallback: fallback.port };
  const proxy = new BreakerProxy({ ...settings, ...ports }, createGuard);
  const port = await freePort();
  await proxy.listen(port);
  open.push(proxy);
  return `http://127.0.0.1:${port}/v1/chat/completions`;
}

const post = (url: string, stream = true, signal: AbortSignal | null = null): Promise<Response> =>
  fetch(url, { method: "POST", body: JSON.stringify({ stream }), signal });

const textOf = async (url: string, stream = true): Promise<string> => (await post(url, stream)).text();

test("passes a stream on as it comes", async () => {
  let finish = (): void => {};
  const node = await engine((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-node": "a" });
    response.write("data: one\n\n");
    finish = () => response.end("data: [DONE]\n\n");
  });
  const answer = await post(await proxyTo([node], await engine(says("fallback"))));
  const reader = answer.body?.getReader();
  const decoder = new TextDecoder();
  assert.equal(decoder.decode((await reader?.read())?.value), "data: one\n\n");
  finish();
  assert.equal(decoder.decode((await reader?.read())?.value), "data: [DONE]\n\n");
  assert.equal(answer.headers.get("x-node"), "a");
});

const failing: Readonly<Record<string, RequestListener>> = {
  "a 500": says("broken", 500),
  "a 429": says("busy", 429),
  "an error as a stream's first event": says(
    'data: {"error":{"message":"out of memory"}}\n\ndata: [DONE]\n\n',
  ),
  "an error as a whole body": says('{ "error": {"message":"out of memory"}}'),
  "no answer at all": () => {},
  "headers and no body": (_, response) => response.writeHead(200).flushHeaders(),
  "a cut before the first byte": (request) => request.socket.destroy(),
};

for (const [what, listener] of Object.entries(failing)) {
  test(`the fallback answers after ${what}, and the breaker is told`, async () => {
    const guards = watching();
    const node = await engine(listener);
    const url = await proxyTo([node], await engine(says("fallback")), guards);
    assert.equal(await textOf(url), "fallback");
    assert.equal(node.hits(), 1);
    assert.equal(guards.failures.length, 1);
  });
}

test("a caller's own mistake is its answer", async () => {
  const guards = watching();
  const url = await proxyTo([await engine(says("no", 400))], await engine(says("fallback")), guards);
  const answer = await post(url);
  assert.deepEqual([answer.status, await answer.text(), guards.failures], [400, "no", []]);
});

test("an answer in one piece may take longer than a stream's first byte", async () => {
  const slow: RequestListener = (request, response) =>
    void setTimeout(() => says("whole")(request, response), 180);
  const url = await proxyTo([await engine(slow)], await engine(says("fallback")));
  assert.equal(await textOf(url, false), "whole");
  assert.equal(await textOf(url, true), "fallback");
});

test("nodes are asked in turn, and a second one before the fallback", async () => {
  const bad = await engine(says("broken", 500));
  const good = [await engine(says("good")), await engine(says("good")), await engine(says("good"))];
  const fallback = await engine(says("fallback"));
  const url = await proxyTo([bad, ...good], fallback);
  for (let request = 0; request < 8; request++) assert.equal(await textOf(url), "good");
  assert.deepEqual(
    [bad, ...good, fallback].map(({ hits }) => hits()),
    [2, 4, 2, 2, 0],
  );
});

test("no more than two nodes are asked, not counting those that their guards refuse", async () => {
  const bad = await engine(says("broken", 500));
  const fallback = await engine(says("fallback"));
  assert.equal(await textOf(await proxyTo([bad, bad, bad, bad], fallback)), "fallback");
  assert.equal(bad.hits(), 2);
  let guards = 0;
  const refusing: CreateGuard = (settings) =>
    guards++ < 3 ? () => Promise.reject(new Error("open")) : watching().createGuard(settings);
  const last = await engine(says("good"));
  const url = await proxyTo([bad, bad, bad, last], fallback, { createGuard: refusing, failures: [] });
  assert.equal(await textOf(url), "good");
  assert.equal(bad.hits(), 2);
});

test("a caller who leaves ends the node's work and is nobody's failure", async () => {
  const guards = watching();
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const node = await engine((_, response) => response.on("close", end));
  const fallback = await engine(says("fallback"));
  const url = await proxyTo([node], fallback, guards);
  await assert.rejects(post(url, false, AbortSignal.timeout(80)), { name: "TimeoutError" });
  await ended;
  assert.deepEqual([guards.failures, fallback.hits()], [[], 0]);
});

test("a stream that breaks after its first byte reaches its caller broken", async () => {
  const node = await engine((request, response) => {
    response.writeHead(200).write("data: one\n\n");
    setTimeout(() => request.socket.destroy(), 20);
  });
  const fallback = await engine(says("fallback"));
  await assert.rejects(textOf(await proxyTo([node], fallback)), { name: "TypeError" });
  assert.equal(fallback.hits(), 0);
});

test("an error is told when the fallback fails as well", async () => {
  const bad = await engine(says("broken", 500));
  const answer = await post(await proxyTo([bad], bad));
  assert.equal(answer.status, 502);
  assert.deepEqual(await answer.json(), { error: { message: "status 500" } });
});
