import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type Answer, type CallSettings, send } from "../support/client.js";
import type { Mode } from "../support/upstream-mode.js";
import { waitFor } from "../support/wait-for.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import {
  addBackend,
  addRoute,
  chainOf,
  clusterOf,
  type PolicyJson,
  protocolOf,
} from "./support/shipped-config.js";

let rig: Rig;

const secrets = {
  authorization: "Bearer CALLERS-TOKEN",
  "x-api-key": "CALLERS-X-API-KEY",
  "api-key": "CALLERS-API-KEY",
  cookie: "session=CALLERS-COOKIE",
  "openai-organization": "CALLERS-ORG",
};
const body = JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content: "CALLERS-WORDS" }] });
const large = JSON.stringify({
  model: "x",
  messages: [{ role: "user", content: "CALLERS-WORDS".repeat(30_000) }],
});

/** The gate does not know that a tier needs the service, as in the seconds before the heartbeat finds it silent. */
function unaware(policy: PolicyJson): void {
  neverOpen(policy);
  for (const alias of ["small", "public"]) policy.backends[alias] = { rewritesBody: false };
  policy.backends.plain = {};
  Object.assign(chainOf(policy), { sameTierRetries: 0 });
  policy.chains.rescued = { ...chainOf(policy), tiers: ["gpu", "small", "plain"] };
  policy.chains.alone = { ...chainOf(policy), tiers: ["small"] };
  policy.chains.once = { ...chainOf(policy), tiers: ["small"], maxAttempts: 1 };
}

before(async () => {
  rig = await startRig({
    policy: unaware,
    patch: (config) => {
      for (const name of ["small", "public"]) {
        for (const filter of protocolOf(clusterOf(config, name)).http_filters) {
          if (filter.name === "llm.breaker.rewrite")
            Object.assign(filter.typed_config ?? {}, { message_timeout: "0.2s" });
        }
      }
      addBackend(config, "plain", "gpu", 9103);
      for (const chain of ["rescued", "alone", "once"]) addRoute(config, `/${chain}/`, chain);
    },
  });
});

beforeEach(() => {
  rig.reset();
  rig.gpu.mode = { kind: "status", status: 500 };
});

after(() => rig.stop());

/** To chain `chat`, whose fallbacks are both rewritten; under `/rescued` the last one is not, under the others `small` is alone. */
function ask(prefix: "" | "/rescued" | "/alone" | "/once", settings: CallSettings = {}): Promise<Answer> {
  return send(`${rig.url}${prefix}/v1/chat/completions?key=CALLERS-QUERY`, {
    body,
    ...settings,
    headers: { ...secrets, ...settings.headers },
  });
}

/** Nothing of the caller's: no word, no key, no query. */
function assertNothingReached(alias: "small" | "public_"): void {
  assert.ok(rig[alias].arrivals.length > 0, "the tier was tried");
  for (const { rawHeaders, path, body: bytes } of rig[alias].arrivals) {
    const all = [...rawHeaders, path, bytes.toString("latin1")].join("\n");
    assert.doesNotMatch(all, /CALLERS-/);
    assert.equal(path, "/llm-breaker-not-rewritten");
    assert.equal(bytes.length, 0);
    assert.doesNotMatch(all, /x-llm-breaker/i);
  }
}

function assertJson(answer: Answer, status: number): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(typeof JSON.parse(answer.text).error.message, "string");
}

/** What holds whenever the service does not do its work, whatever the reason. */
function holds(): void {
  test("the next tier that takes bodies as they are answers", async () => {
    for (const settings of [{}, { body: large }, { body: large, chunked: true }]) {
      rig.small.reset();
      const answer = await ask("/rescued", settings);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.headers["x-llm-breaker-backend"], "plain");
      assert.equal(answer.headers["x-llm-breaker-tried"], "gpu=500, small=unrewritten");
      assert.equal(rig.public_.arrivals.at(-1)?.body.toString(), settings.body ?? body);
      assert.equal(rig.public_.arrivals.at(-1)?.headers.authorization, secrets.authorization);
      assertNothingReached("small");
    }
  });

  test("with rewritten tiers only, the caller reads the first tier's error", async () => {
    const answer = await ask("");
    assertJson(answer, 500);
    assert.match(
      String(answer.headers["x-llm-breaker-tried"]),
      /^gpu=500, (small|public)=unrewritten, (small|public)=unrewritten$/,
    );
    assertNothingReached("small");
    assertNothingReached("public_");
    assert.equal(rig.public_.arrivals.at(-1)?.headers.authorization, "Bearer demo-public-api-key");
  });

  test("with no error to pass on, the caller reads a JSON 503 of ours", async () => {
    rig.gpu.mode = { kind: "reset" };
    const answer = await ask("");
    assertJson(answer, 503);
    assert.equal(answer.headers["x-llm-breaker-reason"], "failed");
    assert.ok(Number(answer.headers["retry-after"]) >= 1);
  });

  for (const chain of ["/alone", "/once"] as const) {
    test(`a rewritten tier that is alone (${chain.slice(1)}) never shows its answer to what was sent instead`, async () => {
      rig.small.mode = {
        kind: "status",
        status: 404,
        body: "<html>",
        headers: { "content-type": "text/html" },
      };
      const answer = await ask(chain);
      assertJson(answer, 503);
      assert.equal(answer.headers["x-llm-breaker-tried"], "small=unrewritten");
      assertNothingReached("small");
    });
  }

  const modes: Mode[] = [
    { kind: "reset" },
    { kind: "status", status: 200 },
    { kind: "status", status: 503 },
    { kind: "status", status: 429, headers: { "retry-after": "2" } },
  ];
  for (const mode of modes) {
    test(`it is nobody's failure, whatever is answered to what was sent instead: ${JSON.stringify(mode)}`, async () => {
      const counts = () =>
        Promise.all(
          ["failure", "backpressure", "success"].map((name) => rig.counter("small", `outcome.${name}`)),
        );
      const was = await counts();
      rig.small.mode = mode;
      const answer = await ask("/rescued");
      assert.equal(answer.headers["x-llm-breaker-backend"], "plain");
      assert.ok(answer.totalMs < 1_500, `answered after ${answer.totalMs} ms`);
      assert.deepEqual(await counts(), was);
    });
  }

  test("a caller's own mark does not open the way", async () => {
    await ask("/rescued", { headers: { "x-llm-breaker-rewritten": "1" } });
    assertNothingReached("small");
  });

  test("a request without a body passes", async () => {
    rig.gpu.mode = { kind: "reset" };
    const answer = await send(`${rig.url}/v1/models`);
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
    assert.equal(rig.small.arrivals[0]?.path, "/v1/models");
  });
}

describe("with the service well", () => {
  test("a rewritten body reaches its tier, and the mark stays inside", async () => {
    const answer = await ask("/rescued");
    assert.equal(answer.headers["x-llm-breaker-backend"], "small");
    const [arrival] = rig.small.arrivals;
    assert.equal(JSON.parse(String(arrival?.body)).model, "qwen3-4b");
    assert.ok(!arrival?.rawHeaders.some((text) => /x-llm-breaker/i.test(text)));
  });

  test("a body in a coding that the service can't read goes to the next tier, as it came", async () => {
    const coded = gzipSync(Buffer.from(body));
    const answer = await ask("/rescued", { body: coded, headers: { "content-encoding": "x-secret" } });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers["x-llm-breaker-backend"], "plain");
    assertNothingReached("small");
    assert.deepEqual(rig.public_.arrivals[0]?.body, coded);
    assert.equal(rig.public_.arrivals[0]?.headers["content-encoding"], "x-secret");
  });
});

describe("with the service frozen", () => {
  before(() => rig.service?.signal("SIGSTOP"));
  holds();
});

describe("with the service killed", () => {
  before(async () => {
    rig.service?.signal("SIGKILL");
    await waitFor(() => rig.service?.exit, 5_000, "the service's end");
  });
  holds();
});
