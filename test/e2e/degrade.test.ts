import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chat } from "../support/client.js";
import { startUpstream, type Upstream } from "../support/upstream.js";
import type { Mode } from "../support/upstream-mode.js";
import { waitFor } from "../support/wait-for.js";
import { isProbe, noTrigger, type Rig, recover, startRig } from "./support/rig.js";
import { clusterOf, protocolOf, type ShippedConfig } from "./support/shipped-config.js";

let rig: Rig;
let metrics: Upstream;

const tools = [{ type: "function", function: { name: "f" } }];
const types = "type.googleapis.com/envoy.extensions";

before(async () => {
  metrics = await startUpstream({ mode: queueOf(0) });
  rig = await startRig({
    serviceConfig: {
      signals: {
        period: "200ms",
        backends: { gpu: { metrics: `http://127.0.0.1:${metrics.port}/metrics` } },
      },
    },
    policy: ({ breaker }) => {
      Object.assign(breaker, noTrigger, {
        engineFatal: true,
        ramp: [{ percent: 100, maxConcurrent: 2, successes: 2 }],
      });
    },
    patch: degradeGpu,
  });
});

after(async () => {
  await metrics.stop();
  await rig.stop();
});

function queueOf(waiting: number): Mode {
  const body = `vllm:num_requests_waiting{model_name="qwen3-32b"} ${waiting}\n`;
  return { kind: "status", status: 200, headers: { "content-type": "text/plain" }, body };
}

/** The service is asked by tier 1 only while it is weak: Composite makes the filter when the state says so. */
function degradeGpu(config: ShippedConfig): void {
  const rewrite = protocolOf(clusterOf(config, "small")).http_filters.find(
    ({ name }) => name === "llm.breaker.rewrite",
  );
  const gpu = clusterOf(config, "gpu");
  Object.assign(gpu.metadata.filter_metadata["llm.breaker"], {
    degradedMaxOutputTokens: "256",
    degradedRemove: "tools",
  });
  const input = {
    name: "degrade",
    typed_config: {
      "@type": `${types}.matching.common_inputs.network.v3.FilterStateInput`,
      key: "wasm.llm.breaker.degrade",
    },
  };
  const predicate = {
    single_predicate: { input, value_match: { safe_regex: { google_re2: {}, regex: "half-open|queue" } } },
  };
  const action = {
    name: "llm.breaker.rewrite",
    typed_config: {
      "@type": `${types}.filters.http.composite.v3.ExecuteFilterAction`,
      typed_config: rewrite,
    },
  };
  protocolOf(gpu).http_filters.splice(1, 0, {
    name: "llm.breaker.degrade",
    typed_config: {
      "@type": `${types}.common.matching.v3.ExtensionWithMatcher`,
      extension_config: {
        name: "llm.breaker.composite",
        typed_config: { "@type": `${types}.filters.http.composite.v3.Composite` },
      },
      xds_matcher: { matcher_list: { matchers: [{ predicate, on_match: { action } }] } },
    },
  });
}

interface Seen {
  max_tokens?: number;
  tools?: unknown;
}

/** What gpu got of a chat that asks for much. */
async function seenByGpu(): Promise<Seen> {
  rig.gpu.reset();
  const answer = await chat(rig.url, { maxTokens: 900, extra: { tools } });
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu", answer.text);
  const arrival = rig.gpu.arrivals.find(({ body }) => !isProbe(body));
  assert.ok(
    !arrival?.rawHeaders.some((name) => /x-llm-breaker/i.test(name)),
    "an internal header left Envoy",
  );
  return JSON.parse(String(arrival?.body)) as Seen;
}

const whole = { max_tokens: 900, tools };
const cutDown = { max_tokens: 256, tools: undefined };
const asked = ({ max_tokens, tools }: Seen) => ({ max_tokens, tools });
const streams = () => rig.envoy.stat("cluster.gpu.composite.filter_delegation_success");

test("a backend that is well gets requests as they are, and the service is not asked", async () => {
  assert.deepEqual(asked(await seenByGpu()), whole);
  assert.equal(await streams(), 0);
});

test("a canary is cut down, and once the backend is closed nothing is any more", async () => {
  rig.gpu.mode = ({ body }) => (isProbe(body) ? { kind: "ok" } : { kind: "sseError", at: 0 });
  await chat(rig.url, { stream: true });
  rig.gpu.mode = { kind: "ok" };
  await rig.waitForCause("PROBE_SUCCEEDED");
  assert.deepEqual(asked(await seenByGpu()), cutDown);
  assert.ok((await streams()) >= 1);
  await recover(rig, () => chat(rig.url));
  assert.deepEqual(asked(await seenByGpu()), whole);
});

test("while the engine's queue is long requests are cut down", async () => {
  metrics.mode = queueOf(20);
  const isCut = async () => (await seenByGpu()).max_tokens === 256;
  await waitFor(isCut, 5_000, "requests that are cut down");
  metrics.mode = queueOf(0);
  await waitFor(async () => !(await isCut()), 5_000, "requests as they are");
});
