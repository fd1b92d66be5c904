// FB-1: credentials of one provider sent to another.
// https://github.com/higress-group/higress/issues/3619 https://github.com/BerriAI/litellm/issues/37905

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { OPEN, type Rig, startRig, staysOpen } from "../e2e/support/rig.js";
import { chainOf } from "../e2e/support/shipped-config.js";
import { type Answer, send } from "../support/client.js";

let rig: Rig;

const callers = {
  authorization: "Bearer CALLERS-TOKEN",
  "x-api-key": "CALLERS-X-API-KEY",
  "api-key": "CALLERS-API-KEY",
  cookie: "session=CALLERS-COOKIE",
  "openai-organization": "CALLERS-ORG",
  "openai-project": "CALLERS-PROJECT",
};
const ownKey = "Bearer demo-public-api-key";

// A is gpu, with the caller's keys; B is the public API, with a key of ours.
before(async () => {
  rig = await startRig({
    policy: (policy) => {
      Object.assign(policy.breaker, staysOpen);
      Object.assign(chainOf(policy), { tiers: ["gpu", "public"] });
    },
  });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

function ask(stream = false): Promise<Answer> {
  return send(`${rig.url}/v1/chat/completions?key=CALLERS-QUERY&api_key=CALLERS-QUERY-2`, {
    body: JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content: "hi" }], stream }),
    headers: callers,
  });
}

function assertOnlyItsOwn(): void {
  assert.ok(rig.public_.arrivals.length > 0, "B was asked");
  for (const { rawHeaders, headers, path, body } of rig.public_.arrivals) {
    const all = [...rawHeaders, path, body.toString("latin1")].join("\n");
    assert.doesNotMatch(all, /CALLERS-/, "something of the caller's reached B");
    assert.doesNotMatch(all, /x-(llm-breaker|envoy)-/i, "an internal header left Envoy");
    assert.equal(headers.authorization, ownKey);
    assert.equal(headers.host, "api.example.com");
    assert.equal(path, "/v1/chat/completions");
  }
}

test("a request that fails over in flight carries B's own key only", async () => {
  for (const mode of [
    { kind: "status", status: 500 },
    { kind: "reset" },
    { kind: "sseError", at: 0 },
  ] as const) {
    rig.reset();
    rig.gpu.mode = mode;
    const answer = await ask(mode.kind === "sseError");
    assert.equal(answer.headers["x-llm-breaker-backend"], "public");
    assert.equal(rig.gpu.arrivals[0]?.headers.authorization, callers.authorization);
    assertOnlyItsOwn();
  }
});

test("with A's breaker open B's own key goes with the request, and nothing of the caller's", async () => {
  assert.equal(await rig.state(), OPEN, "the engine's words have opened it");
  const answer = await ask();
  assert.equal(answer.headers["x-llm-breaker-backend"], "public");
  assert.deepEqual(rig.hits, [0, 0, 1]);
  assertOnlyItsOwn();
});

test("B's refusal of its key is told to operators, by name", async () => {
  rig.public_.mode = { kind: "status", status: 401 };
  await ask();
  const line = await rig.envoy.waitForLog(/fallback public refuses what it is sent with status 401/);
  assert.match(line, /credentials/);
  assert.doesNotMatch(rig.envoy.logLines.join("\n"), /CALLERS-|demo-public-api-key/);
});
