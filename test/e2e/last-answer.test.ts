import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type Answer, chat, send } from "../support/client.js";
import type { Mode } from "../support/upstream-mode.js";
import { rawCall } from "./support/raw-call.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { addRoute, chainOf, connectionManager } from "./support/shipped-config.js";

// What a caller gets when no tier is left: the most telling answer there was, as JSON, and who was asked.

const heldError = 64 * 1024;
const keptError = 16 * 1024;
const json = { "content-type": "application/json" };
let rig: Rig;

before(async () => {
  rig = await startRig({
    service: false,
    policy: (policy) => {
      neverOpen(policy);
      chainOf(policy).sameTierRetries = 0;
      policy.chains.silent = { ...chainOf(policy), answerHeaders: false };
    },
    patch: (config) => {
      addRoute(config, "/silent/", "silent");
      addRoute(config, "/gateless/", "none");
      delete connectionManager(config).route_config.virtual_hosts[0]?.routes[0]?.metadata;
    },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

const error = (message: string, length = 0): string =>
  JSON.stringify({ error: { message, type: "server_error", param: "x".repeat(length), code: null } });
const status = (code: number, body: string, headers: Record<string, string> = json): Mode => ({
  kind: "status",
  status: code,
  headers,
  body,
});
const reset: Mode = { kind: "reset" };

function play(gpu: Mode, small: Mode, public_: Mode): void {
  rig.gpu.mode = gpu;
  rig.small.mode = small;
  rig.public_.mode = public_;
}

function assertOwnJson(answer: Answer): void {
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(answer.headers["x-llm-breaker-reason"], "failed");
  assert.ok(Number(answer.headers["retry-after"]) >= 1);
  const told = JSON.parse(answer.text).error;
  assert.equal(told.code, "llm_breaker_failed");
  assert.match(told.message, /^No backend could answer: gpu=[\w, =]+\.$/);
}

test("the JSON error of an earlier tier outdoes the last one's silence, and tells what was tried", async () => {
  const words = error("the weights are still loading");
  play(status(500, words), reset, { kind: "hang" });
  const answer = await chat(rig.url, { stream: true });
  assert.equal(answer.status, 500);
  assert.equal(answer.text, words);
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  assert.equal(answer.headers["x-llm-breaker-attempts"], "3");
  assert.equal(answer.headers["x-llm-breaker-tried"], "gpu=500, small=reset, public=timeout");
  assert.equal(answer.headers["x-llm-breaker-reason"], undefined);
  assert.deepEqual(rig.hits, [1, 1, 1]);
});

test("of two JSON errors the later one is told", async () => {
  play(status(500, error("first")), status(503, error("second")), reset);
  const answer = await chat(rig.url);
  assert.equal(answer.status, 503);
  assert.equal(answer.text, error("second"));
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
});

test("a prompt that was too long is told to its caller, not that the larger tier fell ill", async () => {
  const words = JSON.stringify({ error: { message: "Too long.", code: "context_length_exceeded" } });
  for (const last of [status(500, error("boom")), status(502, "<html>nginx</html>", {}), reset]) {
    rig.reset();
    play(status(400, words), { kind: "ok" }, last);
    const answer = await chat(rig.url);
    assert.equal(answer.status, 400);
    assert.equal(answer.text, words);
    assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
    assert.match(String(answer.headers["x-llm-breaker-tried"]), /^gpu=400, public=(500|502|reset)$/);
    assert.deepEqual(rig.hits, [1, 0, 1]);
  }
});

test("a fallback's set-up fault is never the caller's answer", async () => {
  for (const code of [401, 403, 404]) {
    play(status(500, "", {}), reset, status(code, error("no such key, path or model")));
    const answer = await chat(rig.url);
    assert.equal(answer.status, 502);
    assertOwnJson(answer);
    assert.doesNotMatch(answer.text, /no such key/);
    assert.equal(answer.headers["x-llm-breaker-tried"], `gpu=500, small=reset, public=${code}`);
  }
  const words = error("the first tier's own");
  play(status(500, words), status(404, error("unknown model")), status(401, error("bad key")));
  assert.equal((await chat(rig.url)).text, words);
});

const unreadable: readonly (readonly [what: string, last: Mode, status: number])[] = [
  ["an empty 503", status(503, "", {}), 503],
  ["a page of a proxy", status(502, "<html><h1>502</h1></html>", { "content-type": "text/html" }), 502],
  ["a text", status(500, "Internal Server Error", { "content-type": "text/plain" }), 500],
  ["what only says that it is JSON", status(500, "upstream connect error"), 500],
  ["half a JSON", status(500, '{"error":{"message":"cut'), 500],
  ["a text 429", status(429, "slow down", {}), 429],
];

for (const [what, last, code] of unreadable) {
  test(`${what} from the last tier becomes JSON with its status`, async () => {
    play(last, last, last);
    const answer = await chat(rig.url);
    assert.equal(answer.status, code);
    assertOwnJson(answer);
    assert.equal(answer.headers["x-llm-breaker-tried"], `gpu=${code}, small=${code}, public=${code}`);
    assert.equal(answer.headers["x-llm-breaker-attempts"], "3");
    assert.equal(answer.headers["x-llm-breaker-backend"], "public");
  });
}

test("what nobody here can read passes as it came: an answer to HEAD, and one in a coding", async () => {
  const last = status(500, "", {});
  play(last, last, last);
  const head = await send(`${rig.url}/v1/models`, { method: "HEAD" });
  assert.equal(head.status, 500);
  assert.ok(head.complete);
  assert.deepEqual(rig.hits, [1, 1, 1]);
  const packed = gzipSync(error("packed")).toString("latin1");
  const coded: Mode = {
    kind: "raw",
    writes: [
      `HTTP/1.1 500 Oops\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n${packed}`,
    ],
  };
  play(coded, coded, coded);
  const answer = await chat(rig.url);
  assert.equal(answer.status, 500);
  assert.equal(answer.headers["content-encoding"], "gzip");
  assert.equal(answer.body.toString("latin1"), packed);
  assert.equal(answer.headers["x-llm-breaker-tried"], "gpu=500, small=500, public=500");
});

test("a long error of the last tier passes whole; of an earlier one only a short one is kept", async () => {
  const long = error("long", keptError);
  const longer = error("longer", 2 * heldError);
  for (const words of [long, longer]) {
    play(reset, reset, status(500, words));
    const answer = await chat(rig.url);
    assert.equal(answer.status, 500);
    assert.equal(answer.text, words);
    play(status(500, words), reset, reset);
    assertOwnJson(await chat(rig.url));
  }
  play(reset, reset, status(500, longer, { ...json, "transfer-encoding": "chunked" }));
  const chunked = await chat(rig.url);
  assert.equal(chunked.status, 500);
  assert.equal(chunked.text, longer, "of unknown length");
  const fitting = error("fits", keptError - error("fits").length);
  play(status(500, fitting), reset, reset);
  assert.equal((await chat(rig.url)).text, fitting);
});

test("a kept answer keeps its Retry-After", async () => {
  play(status(429, error("busy"), { ...json, "retry-after": "17" }), status(500, error("ill")), reset);
  const answer = await chat(rig.url);
  assert.equal(answer.status, 429);
  assert.equal(answer.text, error("busy"));
  assert.equal(answer.headers["retry-after"], "17");
  play(reset, reset, status(503, error("last"), { ...json, "retry-after": "23" }));
  const last = await chat(rig.url);
  assert.equal(last.text, error("last"));
  assert.equal(last.headers["retry-after"], "23");
});

test("Retry-After is told though the answer that brought it could not be", async () => {
  for (const [told, seconds] of [
    ["31", "31"],
    ["Wed, 21 Oct 2099 07:28:00 GMT", "1"],
  ] as const) {
    play(reset, reset, status(503, "", { "retry-after": told }));
    const answer = await chat(rig.url);
    assertOwnJson(answer);
    assert.equal(answer.status, 503);
    assert.equal(answer.headers["retry-after"], seconds);
  }
});

test("an answer that came after failures tells of them, and one at the first try of nothing", async () => {
  const sound: Mode = { kind: "ok" };
  play({ kind: "sseError", at: 0, error: { message: "Internal error" } }, { kind: "doneOnly" }, sound);
  const third = await chat(rig.url, { stream: true });
  assert.equal(third.headers["x-llm-breaker-backend"], "public");
  assert.equal(third.headers["x-llm-breaker-tried"], "gpu=error, small=cut");
  play(sound, sound, sound);
  const first = await chat(rig.url, { stream: true });
  assert.equal(first.headers["x-llm-breaker-tried"], undefined);
  assert.equal(first.headers["x-llm-breaker-attempts"], "1");
});

test("a chain without answer headers tells nobody who was asked", async () => {
  const body = JSON.stringify({ messages: [] });
  const ours = /^x-llm-breaker-(backend|attempts|tried)$/;
  for (const last of [reset, status(500, error("words")), { kind: "ok" } as const]) {
    play(reset, reset, last);
    const answer = await send(`${rig.url}/silent/v1/chat/completions`, { body });
    assert.deepEqual(
      Object.keys(answer.headers).filter((name) => ours.test(name)),
      [],
    );
    assert.equal(typeof JSON.parse(answer.text), "object");
  }
});

test("a request that no gate marked ends at the stop cluster as JSON, and at no backend", async () => {
  const answer = await send(`${rig.url}/gateless/v1/chat/completions`, { body: "{}" });
  assert.equal(answer.status, 503);
  assert.equal(answer.headers["x-llm-breaker-reason"], "no_backend");
  assert.equal(JSON.parse(answer.text).error.code, "llm_breaker_no_backend");
  assert.deepEqual(rig.hits, [0, 0, 0]);
});

test("neither a caller nor a backend can say what was tried", async () => {
  const forged = { "x-llm-breaker-tried": "gpu=forged", "x-llm-breaker-attempts": "9" };
  rig.gpu.mode = { kind: "chunks", headers: { ...json, ...forged }, writes: ['{"choices":[]}'] };
  const answer = await chat(rig.url, { headers: forged });
  assert.equal(answer.headers["x-llm-breaker-tried"], undefined);
  assert.equal(answer.headers["x-llm-breaker-attempts"], "1");
  assert.equal(rig.gpu.arrivals[0]?.headers["x-llm-breaker-tried"], undefined);
  const ill = status(500, error("ill"), { ...json, ...forged });
  play(ill, ill, ill);
  const failed = await chat(rig.url, { headers: forged });
  assert.equal(failed.headers["x-llm-breaker-tried"], "gpu=500, small=500, public=500");
  assert.equal(failed.headers["x-llm-breaker-attempts"], "3");
});

test("a kept answer is its own request's alone", async () => {
  const idOf = (body: Buffer): string => JSON.parse(body.toString()).messages[0].content;
  rig.gpu.mode = ({ body }) => status(500, error(idOf(body)));
  rig.small.mode = reset;
  rig.public_.mode = reset;
  const ids = Array.from({ length: 40 }, (_, call) => `secret of ${call}`);
  const answers = await Promise.all(ids.map((prompt) => chat(rig.url, { prompt })));
  assert.deepEqual(
    answers.map(({ text }) => text),
    ids.map((id) => error(id)),
  );
  // The same connection, so the same worker and the same memory.
  const request = (id: string, last: boolean): string => {
    const body = JSON.stringify({ messages: [{ role: "user", content: id }] });
    const close = last ? "connection: close\r\n" : "";
    return `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${close}content-length: ${body.length}\r\n\r\n${body}`;
  };
  rig.gpu.mode = ({ body }) => (idOf(body) === "none" ? reset : status(500, error(idOf(body))));
  const both = await rawCall(rig.url, request("secret of the first", false) + request("none", true));
  const [first, second] = both.split("HTTP/1.1 ").slice(1);
  assert.match(String(first), /secret of the first/);
  assert.match(String(second), /llm_breaker_failed/);
  assert.doesNotMatch(String(second), /secret/);
});
