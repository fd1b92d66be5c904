import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { AttemptedRequest } from "./attempt.js";
import { readRecord } from "./backend-record.js";
import { HeaderMap } from "./host/header-map.js";
import type { Stream } from "./host/stream.js";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { completion, jsonHead } from "./recovery.js";
import { Worker } from "./worker.js";

const body = '{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":16}';
const gapMs = 40;

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
  // Only failures in a row open it.
  worker = new Worker(world, policyWith({ failureRateThreshold: 0, consecutiveFailuresThreshold: 5 }));
});

function begin(count = 1): Stream[] {
  world.clock.advance(gapMs);
  return Array.from({ length: count }, () => new AttemptedRequest(worker, body).start({ backend: "gpu" }));
}

function end(stream: Stream | undefined, status = "200"): void {
  assert.ok(stream);
  world.clock.advance(gapMs);
  stream.responseHeaders(new HeaderMap({ ...jsonHead, ":status": status }));
  stream.responseBody(status === "200" ? completion : "{}", true);
  stream.endUpstream();
}

const fail = () => end(begin()[0], "500");
const state = () => readRecord(world, "gpu").state;

test("answers to calls from before an outage do not hide that all calls since then fail", () => {
  const before = begin(10);
  for (const stream of before.slice(0, 4)) {
    fail();
    end(stream);
  }
  assert.equal(state(), "CLOSED");
  fail();
  assert.equal(state(), "OPEN");
});

test("an answer to a call that began since the first failure ends the row, whenever it ends", () => {
  for (let count = 0; count < 4; count++) fail();
  const [since] = begin();
  end(since);
  for (let count = 0; count < 4; count++) fail();
  assert.equal(state(), "CLOSED");
  fail();
  assert.equal(state(), "OPEN");
});

test("while a call that began since is still on its way, an older answer ends the row: what becomes of it is not known", () => {
  const [before] = begin();
  for (let count = 0; count < 4; count++) fail();
  const [since] = begin();
  end(before);
  for (let count = 0; count < 4; count++) fail();
  assert.equal(state(), "CLOSED");
  end(since);
  assert.equal(state(), "CLOSED");
});

test("a call on its way to another backend says nothing of this one", () => {
  const [before] = begin();
  for (let count = 0; count < 4; count++) fail();
  new AttemptedRequest(worker, body).start({ backend: "small" });
  end(before);
  fail();
  assert.equal(state(), "OPEN");
});
