import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import fc from "fast-check";
import { AskedWorker } from "./asked-worker.js";
import { World } from "./host/world.js";
import type { Exchange, RequestSettings } from "./worker.js";

type Json = Readonly<Record<string, unknown>>;

/** One backend for each chain, named as the chain is. */
function policyOf(chains: Readonly<Record<string, Json>>, more: Json = {}, backends: Json = {}): string {
  const names = Object.keys(chains);
  return JSON.stringify({
    name: "models",
    backends: { ...Object.fromEntries(names.map((name) => [name, {}])), ...backends },
    chains: Object.fromEntries(names.map((name) => [name, { tiers: [name], ...chains[name] }])),
    ...more,
  });
}

const chains = {
  first: { models: ["qwen3-*", "*-mini"] },
  second: { models: ["qwen3-32b", "gpt-4o"] },
  other: { models: [] },
};
const service = { cluster: "service" };

let world: World;

beforeEach(() => {
  world = new World();
});

const workerOf = (policy: string): AskedWorker => new AskedWorker(world, policy);

function ask(worker: AskedWorker, body: string | Buffer, headers: Record<string, string> = {}): Exchange {
  return worker.send({ body: [body], headers });
}

const named = (model: string): string => JSON.stringify({ messages: [], model });
const clusterOf = (exchange: Exchange): string | undefined => exchange.attempts[0]?.cluster;

function assertUnknown(exchange: Exchange): string {
  assert.deepEqual([exchange.status, exchange.attempts.length], [404, 0]);
  assert.equal(exchange.localReply?.details, "llm_breaker_unknown_model");
  assert.equal(exchange.headers?.get("x-llm-breaker-reason"), "unknown_model");
  const { error } = JSON.parse(exchange.body.toString("utf8"));
  assert.deepEqual(
    [error.type, error.param, error.code],
    ["invalid_request_error", "model", "model_not_found"],
  );
  return error.message;
}

describe("a chain by the model in the body", () => {
  test("is the one that names it, before any whose pattern fits", () => {
    const worker = workerOf(policyOf(chains));
    const models = ["qwen3-32b", "gpt-4o", "qwen3-8b", "gpt-4o-mini"];
    const clusters = models.map((model) => clusterOf(ask(worker, named(model))));
    assert.deepEqual(clusters, ["second", "second", "first", "first"]);
  });

  test("is the default chain for a model that none serves, and for bodies that name none", () => {
    const worker = workerOf(policyOf(chains, { defaultChain: "other" }));
    const bodies = [
      named("gpt-5"),
      "{}",
      '{"model":null}',
      '{"model":7}',
      '{"model":["gpt-4o"]}',
      '{"model":""}',
      '{"model":"gpt-4o"',
      "model=gpt-4o",
      '{"messages":[{"model":"gpt-4o"}],"metadata":{"model":"gpt-4o"}}',
      '{"Model":"gpt-4o"}',
      named(`qwen3-${"x".repeat(123)}`),
    ];
    for (const body of bodies) assert.equal(clusterOf(ask(worker, body)), "other", body);
    assert.equal(clusterOf(ask(worker, named(`qwen3-${"x".repeat(122)}`))), "first");
  });

  test("is nobody's without a default: 404, which tells the name safely", () => {
    const worker = workerOf(policyOf(chains));
    assert.match(assertUnknown(ask(worker, named("gpt-5"))), /`gpt-5` does not exist/);
    const odd = 'a"\\</script>\n\u0001é';
    assert.ok(assertUnknown(ask(worker, named(odd))).includes(`\`${odd}\``));
    const broken = Buffer.concat([Buffer.from('{"model":"x'), Buffer.from([0xff, 0xc3]), Buffer.from('"}')]);
    assert.match(assertUnknown(ask(worker, broken)), /`x\ufffd\ufffd`/);
    assert.match(assertUnknown(ask(worker, "{}")), /names no model/);
    assert.match(assertUnknown(ask(worker, named("x".repeat(300)))), /names no model/);
  });

  test("is decided without the body where there is none that could be read", () => {
    const requests: RequestSettings[] = [
      { headers: { ":method": "GET" }, body: [] },
      { headers: { ":method": "HEAD" }, body: [] },
      { body: [] },
      { headers: { ":method": "PUT" }, body: [named("gpt-4o")] },
    ];
    const strict = workerOf(policyOf(chains));
    for (const request of requests) assert.match(assertUnknown(strict.send(request)), /names no model/);
    const lenient = workerOf(policyOf(chains, { defaultChain: "other" }));
    for (const request of requests) assert.equal(clusterOf(lenient.send(request)), "other");
  });

  test("is not looked for in a form", () => {
    const worker = workerOf(policyOf(chains, { defaultChain: "other" }));
    const scope = worker.newScope();
    const headers = worker.plainHeaders();
    headers.set("content-type", "Multipart/form-data; boundary=x");
    const gate = worker.openGate(scope);
    gate.requestHeaders(headers);
    gate.requestBody(named("gpt-4o"), true);
    assert.equal(scope.state("llm.breaker.backend"), "other");
    gate.endDownstream();
  });

  const rivals = [
    '{"model":"gpt-4o","model":"qwen3-8b"}',
    '{"model":"qwen3-8b","mod\\u0065l":"gpt-4o"}',
    '{"model":"gpt-4o","messages":[],"MODEL":"qwen3-8b"}',
    '{"model":"gpt-4o","model":null}',
  ];
  for (const body of rivals) {
    test(`is refused when servers may differ about it: ${body}`, () => {
      const worker = workerOf(policyOf(chains, { defaultChain: "other" }));
      const exchange = ask(worker, body);
      assert.deepEqual([exchange.status, exchange.attempts.length], [400, 0]);
      assert.equal(exchange.localReply?.details, "llm_breaker_ambiguous_model");
      assert.equal(JSON.parse(exchange.body.toString()).error.code, "llm_breaker_ambiguous_model");
      worker.chain = "second";
      assert.equal(clusterOf(ask(worker, body)), "second", "a route that names its chain does not care");
    });
  }

  test("is asked for by the policy itself, whatever the routes say", () => {
    const worker = workerOf(policyOf(chains, { chain: "by-model", defaultChain: "other" }));
    for (const route of ["by-model", "second", "nobody"]) {
      worker.chain = route;
      assert.equal(clusterOf(ask(worker, named("qwen3-8b"))), "first", route);
      assert.equal(clusterOf(ask(worker, named("gpt-5"))), "other", route);
    }
  });

  test("needs no route that says so for those that name their chain", () => {
    const worker = workerOf(policyOf(chains));
    worker.chain = "other";
    assert.equal(clusterOf(ask(worker, named("gpt-4o"))), "other");
    worker.chain = "nobody";
    assert.equal(ask(worker, named("gpt-4o")).localReply?.details, "llm_breaker_unknown_chain");
  });

  test("does as its definition says, whatever the names and patterns", () => {
    const letters = fc.constantFrom("a", "b", "-", "é", '"', "\\", "\n");
    const name = fc.string({ unit: letters, minLength: 1, maxLength: 6 });
    const pattern = fc.string({ unit: fc.oneof(letters, fc.constant("*")), minLength: 1, maxLength: 6 });
    const lists = fc.uniqueArray(pattern, { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(lists, fc.array(name, { minLength: 1, maxLength: 8 }), (patterns, models) => {
        world = new World();
        const half = patterns.length >> 1;
        const policy = {
          one: { models: patterns.slice(0, half) },
          two: { models: patterns.slice(half) },
          rest: {},
        };
        const worker = workerOf(policyOf(policy, { defaultChain: "rest" }));
        for (const model of models) {
          const at = patterns.indexOf(model.includes("*") ? "" : model);
          const fitting =
            at >= 0 ? at : patterns.findIndex((each) => each.includes("*") && toRegExp(each).test(model));
          const expected = fitting < 0 ? "rest" : fitting < half ? "one" : "two";
          assert.equal(clusterOf(ask(worker, named(model))), expected, `${model} of ${patterns}`);
        }
      }),
      { numRuns: 60 },
    );
  });
});

function toRegExp(pattern: string): RegExp {
  const parts = pattern.split("*").map((part) => part.replaceAll("\\", "\\\\"));
  return new RegExp(`^${parts.join("[^]*")}$`, "u");
}

describe("what depends on the chain", () => {
  test("goes by the chosen one: its own exhaustion, its own time for a first token", () => {
    const closed = { breaker: { mode: "forcedOpen" } };
    const timed = { ...chains, second: { ...chains.second, firstTokenTimeout: "2s" } };
    const worker = workerOf(policyOf(timed, {}, { first: closed }));
    const refused = ask(worker, named("qwen3-8b"));
    assert.equal(refused.localReply?.details, "llm_breaker_exhausted");
    assert.match(refused.body.toString(), /No backend of chain first/);
    const served = ask(worker, '{"stream":true,"model":"gpt-4o"}');
    const limit = Number(served.attempts[0]?.headers.get("x-envoy-upstream-rq-per-try-timeout-ms"));
    assert.ok(limit >= 2_000 && limit < 3_000, `${limit} ms`);
  });

  test("is looked at once: a choice that was never made is not made again", () => {
    const closed = { breaker: { mode: "forcedOpen" } };
    const two = { ...chains, second: { ...chains.second, tiers: ["first", "second"] } };
    const worker = workerOf(policyOf(two, {}, { first: closed }));
    assert.equal(clusterOf(ask(worker, named("gpt-4o"))), "second");
    worker.flushCounters();
    assert.equal(world.metrics.value("llm_breaker.first.refused"), 1);
  });
});

describe("a body in a coding", () => {
  const coded = { "content-encoding": "gzip" };

  test("is read by the service, and its model found afterwards", () => {
    const worker = workerOf(policyOf(chains, { service, defaultChain: "other" }));
    worker.facts = { model: "gpt-4o" };
    const exchange = ask(worker, "\x1f\x8b", coded);
    assert.equal(exchange.scope.state("llm.breaker.step"), "count");
    assert.equal(clusterOf(exchange), "second");
    worker.facts = {};
    assert.equal(clusterOf(ask(worker, "\x1f\x8b", coded)), "other");
    worker.facts = { model: `qwen3-${"x".repeat(123)}` };
    assert.equal(clusterOf(ask(worker, "\x1f\x8b", coded)), "other");
  });

  test("has its limits checked where any chain has limits", () => {
    const limited = { ...chains, second: { ...chains.second, limits: true } };
    for (const [some, asked] of [
      [chains, undefined],
      [limited, "1"],
    ] as const) {
      const worker = workerOf(policyOf(some, { service, defaultChain: "other" }));
      assert.equal(ask(worker, "\x1f\x8b", coded).scope.state("llm.breaker.limits"), asked);
    }
  });

  test("whose model is not found is 404 without a default", () => {
    const worker = workerOf(policyOf(chains, { service }));
    assert.match(assertUnknown(ask(worker, "\x1f\x8b", coded)), /names no model/);
    worker.facts = { model: "gpt-5" };
    assert.match(assertUnknown(ask(worker, "\x1f\x8b", coded)), /`gpt-5`/);
  });

  test("is the default chain's while the service is away", () => {
    const worker = workerOf(policyOf(chains, { service, defaultChain: "other" }));
    worker.facts = { model: "gpt-4o" };
    assert.equal(clusterOf(ask(worker, "\x1f\x8b", coded)), "second");
    world.clock.advance(10_000);
    const exchange = ask(worker, "\x1f\x8b", coded);
    assert.equal(exchange.scope.state("llm.breaker.step"), undefined);
    assert.equal(clusterOf(exchange), "other");
  });

  test("is refused by the chosen chain when that has no tier left", () => {
    const closed = { breaker: { mode: "forcedOpen" } };
    const worker = workerOf(policyOf(chains, { service }, { second: closed }));
    worker.facts = { model: "gpt-4o" };
    assert.equal(ask(worker, "\x1f\x8b", coded).localReply?.details, "llm_breaker_exhausted");
  });
});
