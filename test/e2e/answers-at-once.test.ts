import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { send } from "../support/client.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { clusterOf } from "./support/shipped-config.js";

// Envoy 1.40 dies when parts of an answer come back from the service after its backend has ended and a buffer passes its limit.
let rig: Rig;

before(async () => {
  rig = await startRig({
    policy: neverOpen,
    patch: (config) => {
      Object.assign(clusterOf(config, "small").metadata.filter_metadata["llm.breaker"], {
        answerModel: "caller",
      });
    },
  });
});

beforeEach(() => {
  rig.reset();
  rig.gpu.mode = { kind: "status", status: 500 };
});

after(() => rig.stop());

const body = JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content: "hi" }] });

for (const [what, bytes] of [
  ["64 kB", 64_000],
  ["300 kB, more than is held", 300_000],
] as const) {
  test(`forty answers of ${what} that the service changes arrive whole, again and again`, async () => {
    rig.small.mode = { kind: "bigJson", bytes };
    for (let round = 0; round < 3; round++) {
      const asked = Array.from({ length: 40 }, () => send(`${rig.url}/v1/chat/completions`, { body }));
      for (const answer of await Promise.all(asked)) {
        assert.ok(answer.complete, `${answer.brokenBy}, Envoy: ${rig.envoy.exit}`);
        assert.equal(answer.status, 200);
        assert.ok(answer.body.length >= bytes);
      }
    }
    assert.equal(rig.envoy.exit, undefined);
  });
}
