import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { sendAndLeave } from "../e2e/support/raw-call.js";
import { HALF_OPEN, type Rig, recover, startRig } from "../e2e/support/rig.js";
import { connectionManager } from "../e2e/support/shipped-config.js";
import { chat, send } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    policy: ({ breaker }) => {
      breaker.ramp = [{ percent: 100, maxConcurrent: 1, successes: 2 }];
      breaker.canary = { size: "count", maxPromptTokens: 256, maxOutputTokens: 1024, noDrawAfter: "0s" };
    },
    patch: (config) => {
      // A later filter that refuses what carries the header: the permit is taken by then.
      const permission = { header: { name: "x-refuse-me", present_match: true } };
      const rules = {
        action: "DENY",
        policies: { marked: { permissions: [permission], principals: [{ any: true }] } },
      };
      const type = "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC";
      connectionManager(config).http_filters.splice(-1, 0, {
        name: "envoy.filters.http.rbac",
        typed_config: { "@type": type, rules },
      });
    },
  });
});

beforeEach(async () => {
  rig.reset();
  await recover(rig, () => chat(rig.url));
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  rig.gpu.mode = { kind: "ok" };
  await waitFor(() => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED", 10_000, "the ramp");
  rig.reset();
  votes = await readVotes();
});

after(() => rig.stop());

/** Right after the ramp's beginning: what is under test must leave them as they are. */
let votes: number[];

const readVotes = () =>
  Promise.all(["success", "failure"].map((outcome) => rig.counter("gpu", `outcome.${outcome}`)));

async function assertNextCanaryPasses(): Promise<void> {
  assert.equal(await rig.state(), HALF_OPEN);
  assert.deepEqual(await readVotes(), votes);
  const answer = await chat(rig.url);
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
  assert.equal(rig.gpu.arrivals.length, 1);
}

test("HO-3: a prompt over the cap is no canary and holds no permit", async () => {
  const canaries = await rig.counter("gpu", "canaries");
  const answer = await chat(rig.url, { prompt: "word ".repeat(350) });
  assert.equal(answer.headers["x-llm-breaker-backend"], "small");
  // More tokens than the second tier's window has room for, as well.
  const longer = await chat(rig.url, { prompt: "word ".repeat(9000) });
  assert.equal(longer.headers["x-llm-breaker-backend"], "public");
  assert.equal(await rig.counter("gpu", "canaries"), canaries);
  await assertNextCanaryPasses();
});

// Mutation: filter/gate.ts, "releasePermit(…)" in onDone -> nothing: this test fails.
test("HO-3: a canary that a later filter refuses gives its permit back", async () => {
  for (let call = 0; call < 3; call++) {
    const refused = await chat(rig.url, { headers: { "x-refuse-me": "1" } });
    assert.equal(refused.status, 403);
  }
  assert.equal(rig.gpu.arrivals.length, 0);
  await assertNextCanaryPasses();
});

// Mutation: filter/gate.ts, "releasePermit(…)" in onDone -> nothing: this test fails.
test("HO-3: a client that leaves in the middle of its body holds no permit", async () => {
  const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
  for (let call = 0; call < 3; call++) {
    await sendAndLeave(rig.url, `${head}content-length: 500\r\n\r\n{"messages`, 150);
  }
  assert.equal(rig.gpu.arrivals.length, 0);
  await assertNextCanaryPasses();
});

test("HO-3: a body over the limit gets 413 as JSON and holds no permit", async () => {
  const body = JSON.stringify({ messages: [{ role: "user", content: "x".repeat(20_000_000) }] });
  const answer = await send(`${rig.url}/v1/chat/completions`, { body });
  // Envoy may close before the client has sent it all; then the client sees no answer.
  if (answer.status !== 0) {
    assert.equal(answer.status, 413);
    assert.equal(typeof JSON.parse(answer.text).error.message, "string");
  }
  assert.equal(rig.gpu.arrivals.length, 0);
  await assertNextCanaryPasses();
});
