import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError } from "../../extproc/config/errors.js";
import { configFile, parseConfig } from "../../extproc/service-config.js";

function messageOf(raw: unknown): string {
  try {
    parseConfig(raw);
  } catch (cause) {
    assert.ok(cause instanceof ConfigError);
    return cause.message;
  }
  throw new Error("was accepted");
}

test("has defaults for everything", () => {
  for (const raw of [undefined, null, {}]) {
    const config = parseConfig(raw);
    assert.deepEqual(config.listen, {
      grpc: "127.0.0.1:9002",
      http: "127.0.0.1:9003",
      admin: "127.0.0.1:9004",
    });
    assert.equal(config.drainTimeout, 10_000);
    assert.equal(config.tokens.timeLimit, 150);
  }
});

test("says in one line what is wrong, where, and what was given", () => {
  assert.equal(
    messageOf({ listen: { grpc: "abc" } }),
    'EXTPROC config: listen.grpc must be host:port, got "abc"',
  );
  assert.equal(messageOf([]), "EXTPROC config: the file must be a map of settings, got []");
  assert.equal(
    messageOf({ drainTimeout: 10 }),
    'EXTPROC config: drainTimeout must be a duration like "150ms" or "10s", got 10',
  );
});

test("names every bad field at once", () => {
  const message = messageOf({
    listen: { grpc: "127.0.0.1:99999", http: "x y:1", nope: 1 },
    log: { level: "loud" },
    tokens: { maxTextBytes: 1.5, timeLimit: "soon", largeConcurrency: 0, defaultFamily: "gpt2" },
    tokenizers: [{ models: [], file: "/no/such/tokenizer.json", template: "alpaca" }, { file: "/" }],
    nonsense: {},
  });
  for (const field of [
    "listen.grpc",
    "listen.http",
    "listen.nope",
    "log.level",
    "tokens.maxTextBytes",
    "tokens.timeLimit",
    "tokens.largeConcurrency",
    "tokens.defaultFamily",
    "tokenizers[0].models",
    "tokenizers[0].file",
    "tokenizers[0].template",
    "tokenizers[1].models",
    "nonsense",
  ]) {
    assert.ok(message.includes(`${field} `), `${field} in ${message}`);
  }
  assert.ok(!message.includes("\n"));
});

test("reads durations in their units", () => {
  assert.equal(parseConfig({ drainTimeout: "1.5s" }).drainTimeout, 1500);
  assert.equal(parseConfig({ drainTimeout: "2m" }).drainTimeout, 120_000);
});

test("takes host names and IPv6", () => {
  for (const grpc of ["localhost:1", "0.0.0.0:65535", "[::1]:9002"]) {
    assert.equal(parseConfig({ listen: { grpc } }).listen.grpc, grpc);
  }
  for (const grpc of ["::1:9002", ":9002", "host:", "host:70000"]) messageOf({ listen: { grpc } });
});

test("has no file when the variable is unset or empty", () => {
  assert.equal(configFile({}), undefined);
  assert.equal(configFile({ LLM_BREAKER_CONFIG: "" }), undefined);
  assert.equal(configFile({ LLM_BREAKER_CONFIG: "/a.yaml" })?.path, "/a.yaml");
});
