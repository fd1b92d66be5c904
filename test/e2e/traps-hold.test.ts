import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { send } from "../support/client.js";
import { completionJson, doneEvent, finishEvent, tokenEvent } from "../support/completion.js";
import type { Write } from "../support/upstream-mode.js";
import { neverOpen, type Rig, startRig } from "./support/rig.js";
import { addRoute, chainOf, connectionManager } from "./support/shipped-config.js";

// What Envoy's buffers and timers do to an answer that is held back.

const json = { "content-type": "application/json" };
const ask = (rig: Rig, chain: string, stream: boolean) =>
  send(`${rig.url}/${chain}/v1/chat/completions`, {
    body: JSON.stringify({ model: "m", stream, messages: [{ role: "user", content: "hi" }] }),
  });

describe("a held answer and Envoy's buffers", () => {
  let rig: Rig;

  before(async () => {
    rig = await startRig({ service: false, policy: neverOpen });
  });

  beforeEach(() => rig.reset());

  after(() => rig.stop());

  const body = completionJson("m", "x".repeat(600_000));
  const inTwo: Write[] = [body.slice(0, 300_000), { waitMs: 700 }, body.slice(300_000)];

  test("an answer that says it is longer than the hold limit is not held at all", async () => {
    const early: Write[] = [body.slice(0, 100), { waitMs: 700 }, body.slice(100)];
    rig.gpu.mode = {
      kind: "chunks",
      headers: { ...json, "content-length": String(body.length) },
      writes: early,
    };
    const answer = await ask(rig, "v1", false);
    assert.equal(answer.text, body);
    assert.ok(
      (answer.firstByteMs ?? 9e9) < answer.totalMs - 500,
      `first byte after ${answer.firstByteMs} ms`,
    );
  });

  test("an answer that turns out longer goes on unheld once it does, and is counted as that", async () => {
    const overflows = await rig.counter("gpu", "hold_overflow");
    const success = await rig.counter("gpu", "outcome.success");
    rig.gpu.mode = { kind: "chunks", headers: json, writes: inTwo };
    const answer = await ask(rig, "v1", false);
    assert.equal(answer.status, 200);
    assert.equal(answer.text, body);
    assert.ok(
      (answer.firstByteMs ?? 9e9) < answer.totalMs - 500,
      `first byte after ${answer.firstByteMs} ms`,
    );
    assert.equal(await rig.counter("gpu", "hold_overflow"), overflows + 1);
    assert.equal(await rig.counter("gpu", "outcome.success"), success + 1);
  });
});

test("a listener with no room for what is held costs the answer, as JSON, and is no failure of the backend", async () => {
  const rig = await startRig({
    service: false,
    policy: neverOpen,
    patch: (config) => {
      for (const listener of config.static_resources.listeners) {
        Object.assign(listener, { per_connection_buffer_limit_bytes: 65_536 });
      }
      // Where it is set it is the limit of both directions, and the listener's none any more.
      const [host] = connectionManager(config).route_config.virtual_hosts;
      Object.assign(host ?? {}, { request_body_buffer_limit: undefined });
    },
  });
  try {
    rig.gpu.mode = { kind: "chunks", headers: json, writes: [completionJson("m", "x".repeat(150_000))] };
    const answer = await ask(rig, "v1", false);
    assert.equal(answer.status, 500);
    assert.equal(JSON.parse(answer.text).error.code, "response_payload_too_large");
    assert.equal(await rig.counter("gpu", "outcome.failure"), 0);
    assert.equal(await rig.counter("gpu", "outcome.neutral"), 1);
    assert.equal(await rig.counter("gpu", "hold_overflow"), 1);
  } finally {
    await rig.stop();
  }
});

test("a hold limit that the shipped listener has no room for is refused by name", async () => {
  const policy: Parameters<typeof startRig>[0] = {
    service: false,
    policy: (json) => {
      chainOf(json).holdLimit = 2_097_152;
    },
  };
  await assert.rejects(startRig(policy), /the policy is refused.*holdLimit/);
});

describe("a held answer and Envoy's timers", () => {
  const firstTokenMs = 600;
  let rig: Rig;

  before(async () => {
    rig = await startRig({
      service: false,
      policy: (policy) => {
        neverOpen(policy);
        const limits = { firstTokenTimeout: `${firstTokenMs}ms`, stallTimeout: "1s", answerTimeout: "5s" };
        Object.assign(chainOf(policy), limits);
        policy.chains.complete = { ...chainOf(policy), commit: "complete" };
      },
      patch: (config) => addRoute(config, "/complete/", "complete"),
    });
  });

  beforeEach(() => rig.reset());

  after(() => rig.stop());

  async function failures(): Promise<number> {
    return (await rig.counter("gpu", "outcome.failure")) + (await rig.counter("small", "outcome.failure"));
  }

  test("a healthy stream that takes longer than every limit but its answer's is held to its end", async () => {
    const before = await failures();
    rig.gpu.mode = { kind: "sse", events: 15, gapMs: 100 };
    const answer = await ask(rig, "complete", true);
    assert.equal(answer.status, 200);
    assert.match(answer.text, /token14"[\s\S]*\[DONE\]/);
    assert.ok((answer.firstByteMs ?? 0) > 1_400, "it was not held");
    assert.equal(answer.headers["x-llm-breaker-attempts"], "1");
    assert.deepEqual(rig.hits, [1, 0, 0]);
    assert.equal(await failures(), before);
  });

  test("a healthy answer in one piece that takes longer than the first-token limit is not cut", async () => {
    const before = await failures();
    rig.gpu.mode = { kind: "ok", delayMs: 3 * firstTokenMs };
    for (const answer of await Promise.all(["v1", "complete"].map((chain) => ask(rig, chain, false)))) {
      assert.equal(answer.status, 200);
      assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
      assert.equal(answer.headers["x-llm-breaker-attempts"], "1");
    }
    assert.equal(await failures(), before);
  });

  test("pings keep neither timer from ending a stream without a token, whatever the chain commits", async () => {
    const pings: Write[] = Array.from({ length: 25 }, (): Write[] => [": ping\n\n", { waitMs: 150 }]).flat();
    rig.gpu.mode = { kind: "chunks", writes: pings };
    for (const answer of await Promise.all(["v1", "complete"].map((chain) => ask(rig, chain, true)))) {
      assert.equal(answer.headers["x-llm-breaker-backend"], "small");
      assert.ok(answer.totalMs > firstTokenMs - 50, `${answer.totalMs} ms`);
      assert.ok(answer.totalMs < firstTokenMs + 900, `answered after ${answer.totalMs} ms`);
    }
  });

  test("pings between tokens keep a stream alive", async () => {
    const slow: Write[] = [tokenEvent("m", "a")];
    for (let ping = 0; ping < 10; ping++) slow.push({ waitMs: 200 }, ": ping\n\n");
    rig.gpu.mode = { kind: "chunks", writes: [...slow, tokenEvent("m", "b"), finishEvent("m"), doneEvent] };
    for (const answer of await Promise.all(["v1", "complete"].map((chain) => ask(rig, chain, true)))) {
      assert.match(answer.text, /\[DONE\]/);
      assert.equal(answer.headers["x-llm-breaker-backend"], "gpu");
    }
  });
});

test("Envoy's own idle timeout over a held answer is no failure of the backend, and JSON for the caller", async () => {
  const rig = await startRig({
    service: false,
    policy: (policy) => {
      neverOpen(policy);
      Object.assign(chainOf(policy), { firstTokenTimeout: "4s", stallTimeout: "4s" });
    },
    patch: (config) => Object.assign(connectionManager(config), { stream_idle_timeout: "1s" }),
  });
  try {
    rig.gpu.mode = { kind: "stall" };
    const answer = await ask(rig, "v1", true);
    assert.equal(answer.status, 504);
    assert.equal(JSON.parse(answer.text).error.code, "stream_idle_timeout");
    assert.equal(await rig.counter("gpu", "outcome.failure"), 0);
    assert.equal(await rig.counter("gpu", "outcome.neutral"), 1);
  } finally {
    await rig.stop();
  }
});
