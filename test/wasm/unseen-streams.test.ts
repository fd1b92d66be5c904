import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { readRecord } from "./backend-record.js";
import { HeaderMap } from "./host/header-map.js";
import { Stream } from "./host/stream.js";
import { World } from "./host/world.js";
import { policyWith } from "./policy.js";
import { Worker } from "./worker.js";

const repetitions = 1000;

let world: World;
let worker: Worker;

beforeEach(() => {
  world = new World();
  worker = new Worker(world, policyWith());
});

/** Nothing may have been filed, and the worker goes on as before. */
function assertNothingHappened(): void {
  const record = readRecord(world, "gpu");
  assert.deepEqual([record.state, record.successes, record.failures, record.permits], ["CLOSED", 0, 0, 0]);
  for (const name of world.metrics.names) assert.equal(world.metrics.value(name), 0, name);
  assert.equal(worker.vm.liveContexts, 3);
  assert.equal(worker.send().status, 200);
  worker.fileSuccesses();
  assert.equal(readRecord(world, "gpu").successes, 1);
}

/** Ways in which Envoy ends a stream of which a filter never saw the request. */
const unseen: Readonly<Record<string, (stream: Stream) => void>> = {
  "log, done and delete alone": (stream) => stream.endDownstream(),
  "done and delete alone": (stream) => stream.endUpstream(),
  "a local reply's headers first": (stream) => {
    stream.responseHeaders(new HeaderMap({ ":status": "403" }), true);
    stream.endDownstream();
  },
  "a local reply with a body": (stream) => {
    stream.responseHeaders(new HeaderMap({ ":status": "500", "content-type": "text/plain" }));
    stream.responseBody("denied", true);
    stream.endDownstream();
  },
  "a body without any headers": (stream) => {
    stream.requestBody("{", false);
    stream.responseBody("x", true);
    stream.endUpstream();
  },
  "trailers alone": (stream) => {
    stream.responseTrailers();
    stream.endUpstream();
  },
};

describe("WASM-1: the end of a stream whose request was never seen", () => {
  for (const position of ["gate", "admit", "meter"] as const) {
    for (const [how, play] of Object.entries(unseen)) {
      test(`changes nothing at the ${position}: ${how}`, () => {
        for (let count = 0; count < repetitions; count++) {
          play(new Stream(worker.vm, worker[position], worker.newScope()));
        }
        assertNothingHappened();
      });
    }
  }

  test("changes nothing when the attempt lacks the gate's mark, as a mirrored request does", () => {
    for (let count = 0; count < repetitions; count++) {
      const meter = worker.openMeter(worker.newScope(), "gpu");
      meter.requestHeaders(
        new HeaderMap({ ":method": "POST", ":path": "/", ":authority": "gpu-shadow" }),
        true,
      );
      meter.responseHeaders(new HeaderMap({ ":status": "500" }), true);
      meter.endUpstream();
    }
    assertNothingHappened();
  });

  test("callbacks for a context that was deleted, or of a root that does not exist, are harmless", () => {
    const stream = worker.openGate(worker.newScope());
    stream.endDownstream();
    for (const callback of [
      "request_headers",
      "request_body",
      "response_headers",
      "response_body",
      "done",
      "log",
    ]) {
      worker.vm.call(stream.context, `proxy_on_${callback}`, 0, 1);
    }
    worker.vm.call(stream.context, "proxy_on_tick");
    worker.vm.call(stream.context, "proxy_on_delete");
    assertNothingHappened();
  });
});
