import assert from "node:assert/strict";
import { test } from "node:test";
import { isProbe, startRig } from "../e2e/support/rig.js";
import { chat, send } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { SHAPES, toText } from "./support/shapes.js";

test("TOK-4: what is big or of unknown size is no canary, whatever its shape; a small chat is one", async () => {
  const rig = await startRig({
    policy: ({ breaker }) => {
      breaker.ramp = [{ percent: 100, maxConcurrent: 16, successes: 100 }];
    },
  });
  try {
    rig.gpu.mode = { kind: "sseError", at: 0 };
    await chat(rig.url, { stream: true });
    rig.gpu.mode = { kind: "ok" };
    await waitFor(() => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED", 10_000, "the ramp");
    rig.gpu.reset();
    const big = Object.values(SHAPES).filter(([, body, tokens]) => {
      return (
        tokens === undefined || toText(body).length > 3000 || JSON.stringify(body).includes("input_audio")
      );
    });
    for (const [path, body] of big) await send(rig.url + path, { body: toText(body) });
    const canaries = rig.gpu.arrivals.filter(({ body }) => !isProbe(body));
    assert.deepEqual(
      canaries.map(({ path }) => path),
      [],
    );
    const small = await chat(rig.url);
    assert.equal(small.headers["x-llm-breaker-backend"], "gpu");
  } finally {
    await rig.stop();
  }
});
