import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { parse } from "yaml";
import { type Answer, chat, send } from "../support/client.js";
import { socketAddresses } from "../support/envoy-config.js";
import { type Collector, startCollector } from "../support/otlp/collector.js";
import type { Span } from "../support/otlp/spans.js";
import { isProbe, type Rig, startRig } from "./support/rig.js";
import type { Listener, ShippedConfig } from "./support/shipped-config.js";
import { tracedYaml, tracingDocs } from "./support/traced-yaml.js";

const GATEWAY = "llm-gateway";
const SERVICE = "llm-breaker-extproc";

const WARY_PORT = 10001;
const SOON = { "tracing.opentelemetry.flush_interval_ms": 100 };

let collector: Collector;
let rig: Rig;

/** A second listener, for callers who have no say in traces, as the docs tell it. */
function addWary(config: ShippedConfig): void {
  const [text = ""] =
    /^ *early_header_mutation_extensions:\n(?: .*\n)+? *mutations:.*$/m.exec(tracingDocs()) ?? [];
  const wary = structuredClone(config.static_resources.listeners[0]) as Listener & { name: string };
  wary.name = "wary";
  for (const address of socketAddresses(wary)) address.port_value = WARY_PORT;
  const [filter] = wary.filter_chains[0]?.filters ?? [];
  Object.assign(filter?.typed_config ?? {}, parse(text));
  config.static_resources.listeners.push(wary);
}

before(async () => {
  collector = await startCollector();
  const endpoint = `http://127.0.0.1:${collector.port}`;
  rig = await startRig({
    text: tracedYaml(),
    movedPorts: { 4318: collector.port },
    // Envoy keeps spans for 5 s otherwise.
    patch: (config) => {
      Object.assign(config, { layered_runtime: { layers: [{ name: "soon", static_layer: SOON }] } });
      addWary(config);
    },
    serviceConfig: { traces: { endpoint }, limits: { tokensPerMinute: 100_000 } },
    policy: (policy) => {
      assert.equal((policy as unknown as { tracing: boolean }).tracing, true);
      policy.breaker.ramp = [{ percent: 100, maxConcurrent: 2, successes: 50 }];
      policy.breaker.consecutiveFailuresThreshold = 3;
      (policy.chains.chat as Record<string, unknown>).limits = true;
    },
  });
});

beforeEach(() => rig.reset());

after(async () => {
  await rig?.stop();
  await collector.stop();
});

const newTrace = () => randomBytes(16).toString("hex");
const parent = (traceId: string, flags = "01") => ({
  traceparent: `00-${traceId}-00f067aa0ba902b7-${flags}`,
});
const attemptsOf = (spans: readonly Span[]) => spans.filter(({ name }) => name.startsWith("router "));
const rootOf = (spans: readonly Span[]) => spans.find(({ name }) => name === "ingress") as Span;
const isWhole = (spans: readonly Span[]) => rootOf(spans) !== undefined;

function attribute(span: Span | undefined, ...names: string[]): unknown[] {
  return names.map((name) => span?.attributes[`llm_breaker.${name}`]);
}

/** A span of the service, and the way from there up to the request's own. */
function wayUp(spans: readonly Span[], name: string): string[] {
  const names: string[] = [];
  let at = spans.find((span) => span.name === name);
  for (; at !== undefined; at = spans.find(({ spanId }) => spanId === at?.parentId)) names.push(at.name);
  return names;
}

test("each way that a request can go is one trace, from the caller's span down to the service's stages", async () => {
  const traces = {
    served: newTrace(),
    failedOver: newTrace(),
    canary: newTrace(),
    refused: newTrace(),
    silent: newTrace(),
    unheard: newTrace(),
  };
  const ask = (traceId: string): Promise<Answer> => chat(rig.url, { headers: parent(traceId) });
  assert.equal((await ask(traces.served)).headers["x-llm-breaker-backend"], "gpu");
  await chat(rig.url, { headers: parent(traces.silent, "00") });
  assert.equal((await chat(rig.envoy.url(WARY_PORT), { headers: parent(traces.unheard) })).status, 200);

  rig.gpu.mode = ({ body }) => (isProbe(body) ? { kind: "ok" } : { kind: "status", status: 500 });
  assert.equal((await ask(traces.failedOver)).headers["x-llm-breaker-backend"], "small");
  await ask(newTrace());
  await rig.waitForCause("PROBE_SUCCEEDED");
  rig.gpu.mode = { kind: "ok" };
  assert.equal((await ask(traces.canary)).headers["x-llm-breaker-backend"], "gpu");

  for (const upstream of [rig.gpu, rig.small, rig.public_]) upstream.mode = { kind: "sseError", at: 0 };
  while ((await chat(rig.url, { stream: true })).headers["x-llm-breaker-reason"] !== "exhausted");
  const url = `${rig.url}/v1/chat/completions?key=SECRET`;
  const body = '{"model":"qwen3-32b","messages":[{"role":"user","content":"SECRET"}]}';
  const authorization = "Bearer SECRET";
  const refused = await send(url, { body, headers: { ...parent(traces.refused), authorization } });
  assert.equal(refused.headers["x-llm-breaker-reason"], "exhausted");

  const served = await collector.trace(traces.served, (spans) => isWhole(spans) && spans.length >= 6);
  const root = rootOf(served);
  assert.deepEqual([root.service, root.parentId], [GATEWAY, "00f067aa0ba902b7"]);
  assert.deepEqual(attribute(root, "backend", "tier", "state", "attempt"), ["gpu", "1", "CLOSED", "1"]);
  assert.deepEqual(
    attemptsOf(served).map(({ name, parentId }) => [name, parentId]),
    [["router gpu egress", root.spanId]],
  );
  const call = "async envoy.service.ext_proc.v3.ExternalProcessor.Process egress";
  for (const stage of ["tokenize", "limit"]) {
    assert.deepEqual(wayUp(served, `llm_breaker.${stage}`), [
      `llm_breaker.${stage}`,
      "llm_breaker.count",
      call,
      "ingress",
    ]);
  }
  const limit = served.find(({ name }) => name === "llm_breaker.limit");
  assert.deepEqual([limit?.service, ...attribute(limit, "allowed", "class")], [SERVICE, true, "default"]);

  const failedOver = await collector.trace(
    traces.failedOver,
    (spans) => isWhole(spans) && wayUp(spans, "llm_breaker.rewrite").length === 3,
  );
  assert.deepEqual(
    attemptsOf(failedOver).map((span) => [
      ...attribute(span, "backend", "tier", "state", "attempt"),
      span.attributes["http.status_code"],
    ]),
    [
      ["gpu", "1", "CLOSED", "1", "500"],
      ["gpu", "1", "CLOSED", "2", "500"],
      ["small", "2", "CLOSED", "3", "200"],
    ],
  );
  assert.deepEqual(attribute(rootOf(failedOver), "backend", "tried"), ["small", "gpu=500, gpu=500"]);
  const rewrite = failedOver.find(({ name }) => name === "llm_breaker.rewrite");
  assert.deepEqual(attribute(rewrite, "backend", "rewritten"), ["small", true]);
  assert.equal(rewrite?.attributes["gen_ai.request.model"], "qwen3-4b");

  const canary = await collector.trace(
    traces.canary,
    (spans) => isWhole(spans) && wayUp(spans, "llm_breaker.count").length === 3,
  );
  assert.deepEqual(attribute(attemptsOf(canary)[0], "backend", "state"), ["gpu", "HALF_OPEN"]);
  const count = canary.find(({ name }) => name === "llm_breaker.count");
  assert.deepEqual(attribute(count, "canary", "exact"), [true, true]);
  assert.equal(attribute(count, "prompt_tokens")[0], Number(attribute(rootOf(canary), "prompt_tokens")[0]));
  assert.equal(count?.attributes["gen_ai.request.model"], "qwen3-32b");

  const ended = rootOf(await collector.trace(traces.refused, isWhole));
  assert.deepEqual(attribute(ended, "reason", "details", "attempt"), [
    "exhausted",
    "llm_breaker_exhausted",
    "0",
  ]);
  assert.equal(attribute(ended, "passed_over")[0], "gpu=refused, small=refused, public=refused");
  assert.equal(ended.status, 2);

  // By now the others have come, which were sent later.
  const unwanted = [traces.silent, traces.unheard];
  assert.deepEqual(
    collector.spans.filter(({ traceId }) => unwanted.includes(traceId)),
    [],
  );
  assert.ok(collector.spans.some(({ name, parentId }) => name === "ingress" && parentId === ""));
  assert.doesNotMatch(JSON.stringify(collector.exports), /SECRET/);
});
