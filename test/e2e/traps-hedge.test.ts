import assert from "node:assert/strict";
import { test } from "node:test";
import { chat } from "../support/client.js";
import { neverOpen, startRig } from "./support/rig.js";
import { chainOf, routeOf } from "./support/shipped-config.js";

// Mutation: filter/meter/conclude.ts, "if (hasDetails && (!isUpstreams || isLoser))" -> "if (hasDetails && !isUpstreams)": this test fails.
test("the slower of two hedged attempts is no failure of the backend", async () => {
  const rig = await startRig({
    service: false,
    policy: (policy) => {
      neverOpen(policy);
      chainOf(policy).firstTokenTimeout = "500ms";
    },
    patch: (config) => {
      const { route } = routeOf(config);
      Object.assign(route ?? {}, { hedge_policy: { hedge_on_per_try_timeout: true } });
    },
  });
  try {
    for (const winner of [0, 1]) {
      rig.reset();
      const success = await rig.counter("gpu", "outcome.success");
      const failures = await rig.counter("gpu", "outcome.failure");
      // The first gets its hedge after 500 ms, and answers 400 ms after that; the other one is silent.
      rig.gpu.mode = ({ index }) => (index === winner ? { kind: "ok", delayMs: 900 } : { kind: "hang" });
      const answer = await chat(rig.url, { stream: true });
      assert.equal(answer.status, 200);
      assert.match(answer.text, /\[DONE\]/);
      assert.ok(rig.gpu.arrivals.length >= 2, "nothing was hedged");
      assert.equal(await rig.counter("gpu", "outcome.success"), success + 1);
      assert.equal(await rig.counter("gpu", "outcome.failure"), failures);
    }
  } finally {
    await rig.stop();
  }
});
