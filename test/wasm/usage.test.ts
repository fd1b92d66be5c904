import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { AttemptedRequest } from "./attempt.js";
import { HeaderMap } from "./host/header-map.js";
import { World } from "./host/world.js";
import { neverOpens, policyWith } from "./policy.js";
import { Worker } from "./worker.js";

const events = "text/event-stream";
const json = "application/json";
const token = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n';
const usage = '"usage":{"prompt_tokens":12,"completion_tokens":34,"total_tokens":46}';
const whole = `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],${usage}}`;
const both = { prompt: 12, completion: 34, backend: "gpu" };

let limits: boolean;

beforeEach(() => {
  limits = true;
});

/** What is told of an answer that came in these pieces; `isCut` leaves out its end. */
function told(contentType: string, pieces: readonly string[], isCut = false): unknown {
  const policy = JSON.parse(policyWith(neverOpens, { limits }));
  const worker = new Worker(new World(), JSON.stringify({ ...policy, service: { cluster: "service" } }));
  const request = new AttemptedRequest(worker, "{}");
  // The count that limits ask for is not to be had here: the first tier it is.
  request.scope.filterState.set("llm.breaker.backend", Buffer.from("gpu"));
  const meter = request.start({ backend: "gpu" });
  meter.responseHeaders(new HeaderMap({ ":status": "200", "content-type": contentType }));
  for (const [index, piece] of pieces.entries())
    meter.responseBody(piece, !isCut && index === pieces.length - 1);
  meter.endUpstream();
  request.end();
  const text = request.scope.state("llm.breaker.usage");
  return text === undefined ? undefined : JSON.parse(text);
}

describe("what an answer has used", () => {
  test("is told of an answer in one piece and of a stream", () => {
    assert.deepEqual(told(json, [whole]), both);
    assert.deepEqual(told(events, [token, `data: {"choices":[],${usage}}\n\n`, "data: [DONE]\n\n"]), both);
  });

  test("is told of a stream that was left after it", () => {
    assert.deepEqual(told(events, [token, `data: {"choices":[],${usage}}\n\n`], true), both);
  });

  test("leaves out what the answer did not tell", () => {
    const prompt = whole.replace(',"completion_tokens":34', "");
    assert.deepEqual(told(json, [prompt]), { prompt: 12, backend: "gpu" });
    assert.equal(told(events, [token, "data: [DONE]\n\n"]), undefined);
    assert.equal(told("text/plain", ["hi"]), undefined);
  });

  test("is told for chains with limits only", () => {
    limits = false;
    assert.equal(told(json, [whole]), undefined);
  });
});
