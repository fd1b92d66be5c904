import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import fc from "fast-check";
import { AttemptedRequest } from "./attempt.js";
import { Action } from "./host/abi.js";
import type { HostContext } from "./host/context.js";
import { HeaderMap } from "./host/header-map.js";
import { Stream } from "./host/stream.js";
import { World } from "./host/world.js";
import { neverOpens, policyWith } from "./policy.js";
import { Worker } from "./worker.js";

let worker: Worker;
let guardRoot: HostContext;

const mark = "x-llm-breaker-rewritten";
const rewritten = { backend: "gpu", model: "another" };
const secrets = ["authorization", "x-api-key", "api-key", "cookie", "openai-organization", "x-goog-api-key"];

before(() => {
  worker = new Worker(new World(), policyWith(neverOpens));
  const { root, configured } = worker.vm.addRoot("guard", "");
  assert.ok(configured);
  guardRoot = root;
});

const bytes = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
  maxLength: 300,
});
const chunks = fc.array(
  bytes.map((text) => Buffer.from(text, "latin1")),
  { minLength: 1, maxLength: 5 },
);
const value = fc.string({ unit: fc.constantFrom(..."SECRET-value0"), minLength: 1, maxLength: 40 });
const callers = fc.dictionary(fc.constantFrom(...secrets, "x-other", "accept"), value);
const path = fc.webPath().map((text) => `/v1${text}?key=CALLERS`);

/** An attempt that has come to the guard, behind the service. */
function atGuard(headers: Readonly<Record<string, string>>): {
  request: AttemptedRequest;
  meter: Stream;
  guard: Stream;
} {
  const request = new AttemptedRequest(worker, "{}", headers);
  const meter = request.start(rewritten);
  return { request, meter, guard: new Stream(worker.vm, guardRoot, request.scope) };
}

function passBody(guard: Stream, parts: readonly Buffer[]): Buffer {
  for (const [index, part] of parts.entries()) guard.requestBody(part, index === parts.length - 1);
  return Buffer.concat(guard.sent);
}

describe("the guard", () => {
  test("lets nothing of a request without the mark through, whatever it is and however it comes", () => {
    fc.assert(
      fc.property(callers, path, chunks, (given, asked, parts) => {
        const { request, meter, guard } = atGuard({ ...given, ":path": asked, "content-encoding": "br" });
        assert.equal(guard.requestHeaders(request.headers), Action.go);
        assert.equal(passBody(guard, parts).length, 0);
        assert.equal(request.headers.get(":path"), "/llm-breaker-not-rewritten");
        assert.equal(request.headers.get("content-length"), "0");
        assert.equal(request.headers.get("content-encoding"), undefined);
        for (const name of secrets) assert.equal(request.headers.get(name), undefined, name);
        for (const stream of [guard, meter]) stream.endUpstream();
        request.end();
      }),
    );
  });

  test("lets a marked request through as it is, but for the mark", () => {
    fc.assert(
      fc.property(callers, path, chunks, (given, asked, parts) => {
        const { request, meter, guard } = atGuard({ ...given, ":path": asked });
        const before = request.headers.clone().entries;
        request.headers.set(mark, "1");
        assert.equal(guard.requestHeaders(request.headers), Action.go);
        assert.deepEqual(request.headers.entries, before);
        assert.deepEqual(passBody(guard, parts), Buffer.concat(parts));
        for (const stream of [guard, meter]) stream.endUpstream();
        request.end();
      }),
    );
  });

  test("answers by JSON where no gate has seen the request", () => {
    const guard = new Stream(worker.vm, guardRoot, worker.newScope());
    const action = guard.requestHeaders(
      new HeaderMap({ ":method": "POST", ":path": "/v1/chat/completions" }),
    );
    assert.equal(action, Action.hold);
    const reply = guard.context.localReply;
    assert.equal(reply?.status, 503);
    assert.equal(JSON.parse(String(reply?.body)).error.code, "llm_breaker_not_rewritten");
    assert.equal(reply?.details, "llm_breaker_not_rewritten");
    assert.ok(Number(reply?.headers.get("retry-after")) >= 1);
    guard.endUpstream();
  });

  test("the meter names the next tier, and the next attempt starts with what the caller sent", () => {
    const given = { authorization: "Bearer CALLERS", cookie: "a=1" };
    const { request, meter, guard } = atGuard(given);
    guard.requestHeaders(request.headers);
    const answer = new HeaderMap({ ":status": "200", "content-type": "application/json" });
    meter.responseHeaders(answer);
    assert.equal(answer.get("x-llm-breaker-retry"), "1");
    for (const stream of [guard, meter]) stream.endUpstream();
    assert.equal(request.scope.state("llm.breaker.backend"), "small");
    const next = request.start({ backend: "small" });
    for (const [name, sent] of Object.entries(given)) assert.equal(request.headers.get(name), sent);
    assert.equal(request.headers.get(":path"), "/v1/chat/completions");
    assert.equal(request.headers.get("content-length"), "2");
    const good = new HeaderMap({ ":status": "204" });
    next.responseHeaders(good, true);
    assert.equal(good.get("x-llm-breaker-tried"), "gpu=unrewritten");
    next.endUpstream();
    request.end();
  });

  test("a mark of an attempt before says nothing of the next one", () => {
    const { request, meter, guard } = atGuard({});
    meter.responseHeaders(new HeaderMap({ ":status": "500" }), true);
    for (const stream of [guard, meter]) stream.endUpstream();
    request.headers.set(mark, "1");
    const next = request.start({ backend: "small", model: "b" });
    assert.equal(request.headers.get(mark), undefined);
    next.endUpstream();
    request.end();
  });
});
