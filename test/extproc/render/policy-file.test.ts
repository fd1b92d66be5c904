import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ConfigError } from "../../../extproc/config/errors.js";
import type { Plan } from "../../../extproc/render/plan.js";
import { readPolicy } from "../../../extproc/render/policy-file.js";
import { policyWith } from "../../../extproc/render/policy-text.js";

const CHAT = `
name: chat
backends:
  gpu:    { url: "http://vllm.llm.svc:8000", contextWindow: 32768 }
  small:  { url: "http://10.0.0.7:8000", model: qwen3-4b, maxOutputTokens: 1024, contextWindow: 8192 }
  public: { url: "https://api.example.com/v1", model: gpt-4o-mini, keyFile: /etc/llm-breaker/public-key.yaml }
chains:
  chat: { models: [qwen3-32b], tiers: [gpu, small, public] }
breaker: { failureRateThreshold: 30 }
`;

function problemsOf(text: string): string[] {
  try {
    readPolicy(text, "policy.yaml");
  } catch (cause) {
    assert.ok(cause instanceof ConfigError);
    return cause.problems.map(({ text: told, position }) => `${position?.line}: ${told}`);
  }
  throw new Error("was accepted");
}

const backendOf = (plan: Plan, alias: string) => {
  const backend = plan.backends.find((each) => each.alias === alias);
  assert.ok(backend);
  return backend;
};

/** One backend with these fields. */
const planWith = (fields: string) =>
  readPolicy(`backends: { gpu: { ${fields} } }\nchains: { chat: { tiers: [gpu] } }`, "policy.yaml");
const withField = (fields: string) => backendOf(planWith(fields), "gpu");

test("plans the tiers of twelve lines", () => {
  const plan = readPolicy(CHAT, "policy.yaml");
  assert.equal(plan.name, "chat");
  assert.deepEqual(plan.service, { host: "127.0.0.1", grpcPort: 9002, httpPort: 9003 });
  assert.deepEqual(
    plan.backends.map(({ alias, rewritesBody }) => [alias, rewritesBody]),
    [
      ["gpu", false],
      ["small", true],
      ["public", true],
    ],
  );
  assert.deepEqual(backendOf(plan, "public").metadata, {
    backend: "public",
    credentials: "own",
    host: "api.example.com",
    model: "gpt-4o-mini",
  });
  assert.deepEqual(backendOf(plan, "public").credential, {
    header: "authorization",
    prefix: "",
    secretFile: "/etc/llm-breaker/public-key.yaml",
    secretName: "public-key",
  });
  assert.equal(backendOf(plan, "public").url?.port, 443);
  assert.equal(backendOf(plan, "small").url?.isAddress, true);
  const policy = JSON.parse(plan.policy);
  assert.deepEqual(Object.keys(policy), ["name", "service", "breaker", "backends", "chains"]);
  assert.equal(policy.breaker.failureRateThreshold, 30);
  assert.equal(policy.breaker.probe.body.model, "qwen3-32b");
  assert.deepEqual(policy.backends.small, { contextWindow: 8192, rewritesBody: true });
});

test("takes a backend's place from its URL", () => {
  assert.deepEqual(withField("url: http://10.0.0.7:8000").metadata, { backend: "gpu" });
  assert.equal(withField("url: http://gpu.internal").metadata.host, "gpu.internal");
  assert.equal(withField("url: http://gpu.internal:8000/v1/").metadata.host, "gpu.internal:8000");
  assert.equal(withField("url: http://gpu.internal/v1").metadata.pathPrefix, undefined);
  assert.equal(
    withField("url: https://a.example/openai/deployments/d").metadata.pathPrefix,
    "/openai/deployments/d",
  );
  assert.deepEqual(withField("url: 'http://[::1]:8000'").url?.host, "::1");
  assert.equal(withField("").cluster, "gpu");
  assert.equal(withField("cluster: vllm").cluster, "vllm");
  assert.equal(JSON.parse(planWith("cluster: vllm").policy).backends.gpu.cluster, "vllm");
});

test("tells cluster metadata as texts", () => {
  const { metadata } = withField(
    "remove: [tools, seed], rename: { a: b, c: d }, includeUsage: true, maxOutputTokens: 5, host: h.example",
  );
  assert.deepEqual(metadata, {
    backend: "gpu",
    host: "h.example",
    maxOutputTokens: "5",
    remove: "tools, seed",
    rename: "a=b, c=d",
    includeUsage: "true",
  });
});

test("needs the service only for what only it can do", () => {
  const needs = (chain: string, fields = "") =>
    readPolicy(`backends: { gpu: { ${fields} } }\nchains: { chat: { tiers: [gpu], ${chain} } }`, "p.yaml")
      .service !== undefined;
  assert.equal(needs(""), false);
  assert.equal(needs("exhausted: { action: bypass }"), false);
  assert.equal(needs("exhausted: { action: cached }"), true);
  assert.equal(needs("limits: true"), true);
  assert.equal(needs("", "model: m"), true);
  assert.equal(needs("", "degradedMaxOutputTokens: 100"), true);
  assert.equal(needs("", "breaker: { canary: { size: count } }"), true);
  assert.equal(JSON.parse(planWith("").policy).breaker.canary.size, "estimate");
  const asked = readPolicy("service: svc\nbackends: { gpu: }\nchains: { chat: { tiers: [gpu] } }", "p.yaml");
  assert.equal(asked.service?.host, "svc");
  assert.equal(JSON.parse(asked.policy).breaker, undefined);
});

test("a backend that is only degraded has no guard", () => {
  const { rewritesBody, degradesBody } = withField("degradedRemove: [tools]");
  assert.deepEqual({ rewritesBody, degradesBody }, { rewritesBody: false, degradesBody: true });
  assert.equal(withField("degradedRemove: [tools], model: m").degradesBody, false);
});

test("gives each tier its attempt", () => {
  const backends = "backends: { a: , b: , c: , d: }";
  const attempts = (chain: string) => {
    const plan = readPolicy(`${backends}\nchains: { chat: { ${chain} } }`, "p.yaml");
    return [plan.chains[0]?.maxAttempts, JSON.parse(plan.policy).chains.chat.maxAttempts];
  };
  assert.deepEqual(attempts("tiers: [a, b]"), [4, undefined]);
  assert.deepEqual(attempts("tiers: [a, b, c, d]"), [5, 5]);
  assert.deepEqual(attempts("tiers: [a, b, c, d], maxAttempts: 2"), [2, 2]);
  assert.deepEqual(attempts("tiers: [a], routing: fixed"), [1, 1]);
});

test("a probe names the model that callers name, unless one is given", () => {
  const plan = (rest: string) =>
    JSON.parse(
      readPolicy(
        `backends: { a: , b: }\nchains: { one: { models: [m], tiers: [a] }, two: { models: ["x*", n], tiers: [b] } }\n${rest}`,
        "p.yaml",
      ).policy,
    );
  assert.equal(plan("").breaker.probe.body.model, "m");
  assert.equal(plan("").backends.a.breaker, undefined);
  assert.equal(plan("").backends.b.breaker.probe.body.model, "n");
  assert.equal(plan("breaker: { probe: { path: /health } }").backends.b.breaker, undefined);
});

test("tells every fault at once, with its line and its parser's words", () => {
  const problems = problemsOf(`
name: A_b
bogus: 1
service: { host: "a b" }
backends:
  gpu: { url: "ftp://x", contextWindow: -1, pth: /x }
  "a.b": {}
  small: { cluster: s, url: "http://u:p@h/x?y", keyHeader: x-a, path: /a }
chains:
  one: { tiers: [gpu, nope], bogus: 1 }
  two: { tiers: [gpu], models: [m], prefix: v1, exhausted: { action: zz } }
breaker: { failureRateThreshold: "a; b", canary: { size: zz } }
defaultChain: zz
`);
  const expected = [
    /^2: name must be 1 to 63 of a-z/,
    /^3: bogus is unknown/,
    /^4: service.host must be a host name or an address/,
    /^6: backends.gpu.url must be a URL/,
    /^6: backends.gpu.pth is unknown/,
    /^6: backends.gpu.contextWindow must be a whole number .* got -1$/,
    /^7: backends.a.b must be 1 to 63 of/,
    /^8: backends.small.cluster must not stand beside url/,
    /^8: backends.small.url must not hold a user or a password/,
    /^8: backends.small.url must not hold a query/,
    /^8: backends.small.path must not stand beside pathPrefix/,
    /^8: backends.small.keyHeader needs keyFile/,
    /^10: chains.one.tiers\[1\] must be one of gpu, a.b, small, got "nope"$/,
    /^10: chains.one.bogus is unknown; known here: tiers, /,
    /^10: chains.one is chosen by nothing/,
    /^11: chains.two.prefix must begin with \//,
    /^11: chains.two.exhausted.action must be one of/,
    /^12: breaker.failureRateThreshold must be .* got "a; b"$/,
    /^12: breaker.canary.size must be one of count, estimate/,
    /^13: defaultChain must be one of chains, got "zz"$/,
  ];
  assert.deepEqual(
    expected.filter((fault) => !problems.some((problem) => fault.test(problem))),
    [],
    problems.join("\n"),
  );
  assert.equal(problems.length, expected.length, problems.join("\n"));
  assert.ok(!problems.join().includes("u:p@"), "a password is not told");
});

test("one cluster is one backend, and none of the breaker's own", () => {
  const told = (backends: string) => problemsOf(`backends:\n${backends}\nchains: { chat: { tiers: [a] } }`);
  const shared = told("  a: { cluster: vllm }\n  b: { cluster: vllm, model: small }");
  assert.match(
    shared.join("\n"),
    /^3: backends\.b\.cluster is the cluster vllm of backends\.a too: one cluster is/,
  );
  assert.match(
    told("  a: { cluster: b }\n  b:").join("\n"),
    /^3: backends\.b is the cluster b of backends\.a too/,
  );
  for (const name of ["llm-breaker-service", "llm-breaker-service-http", "__proto__"]) {
    assert.match(told(`  a:\n  ${name}:`).join("\n"), new RegExp(`^3: backends.${name} must not be ${name}`));
  }
  assert.match(told("  a: { cluster: llm.breaker.stop }").join("\n"), /must not be llm\.breaker\.stop/);
});

test("where Envoy would listen, or connect, at nothing is told", () => {
  const rest = "backends: { a: { url: 'http://10.0.0.1:80' } }\nchains: { chat: { tiers: [a] } }";
  for (const host of ["localhost", "gateway.example", "256.1.1.1", "*"]) {
    assert.match(problemsOf(`listen: "${host}:80"\n${rest}`).join("\n"), /^1: listen must have an address/);
  }
  assert.equal(readPolicy(`listen: "[::]:80"\n${rest}`, "p.yaml").listen, "[::]:80");
  assert.match(problemsOf(rest.replace(":80", ":0")).join("\n"), /^1: backends\.a\.url must not have port 0/);
});

test("refuses what is no policy with one message", () => {
  assert.match(problemsOf("").join(), /backends must be a map/);
  assert.match(problemsOf("backends: [").join(), /must be valid YAML/);
  assert.match(problemsOf("- 1").join(), /must be a map of settings, got \[1\]/);
});

test("puts a target's names of clusters into the policy", () => {
  const { policy } = readPolicy(CHAT, "policy.yaml");
  const named = JSON.parse(policyWith(policy, (alias) => `outbound|80||${alias}`, "outbound|9003||svc"));
  assert.equal(named.service.cluster, "outbound|9003||svc");
  assert.equal(named.backends.small.cluster, "outbound|80||small");
  assert.equal(named.backends.small.rewritesBody, true);
  assert.equal(
    policyWith(policy, (alias) => alias, "llm-breaker-service-http"),
    policy,
  );
});

test("whatever is in the file, it is planned or its faults are told", () => {
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom("gpu", "5s", "http://h/p", -1, null));
  const fields = fc.dictionary(
    fc.constantFrom(
      "url",
      "cluster",
      "model",
      "remove",
      "rename",
      "breaker",
      "price",
      "path",
      "keyFile",
      "x",
    ),
    value,
  );
  const file = fc.record(
    {
      name: value,
      service: value,
      breaker: value,
      backends: fc.oneof(
        value,
        fc.dictionary(fc.constantFrom("gpu", "__proto__", "a.b"), fc.oneof(value, fields)),
      ),
      chains: fc.oneof(
        value,
        fc.dictionary(
          fc.constantFrom("chat", "toString"),
          fc.record({ tiers: value, models: value }, { requiredKeys: [] }),
        ),
      ),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(file, (given) => {
      try {
        readPolicy(JSON.stringify(given), "policy.yaml");
      } catch (cause) {
        assert.ok(cause instanceof ConfigError, String(cause));
      }
    }),
    { numRuns: 150 },
  );
});

test("a merge key is told for what it is", () => {
  const text =
    "base: &base { contextWindow: 8192 }\nbackends:\n  gpu:\n    <<: *base\nchains: { chat: { tiers: [gpu] } }\n";
  const told = problemsOf(text).find((problem) => problem.includes("<<"));
  assert.match(told ?? "", /^4: backends\.gpu\.<< is a merge key, which is not read: write its fields out/);
});
