import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { chat } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { isProbe, type Rig, startRig } from "./support/rig.js";
import {
  clusterOf,
  connectionManager,
  type Filter,
  protocolOf,
  type ShippedConfig,
} from "./support/shipped-config.js";

const tools = [{ type: "function", function: { name: "f", parameters: {} } }];

let rig: Rig;
let engine: Server;
let waiting = 0;

/** An engine's page that says how many requests wait at `small`. */
async function startMetrics(): Promise<string> {
  engine = createServer((_request, response) => response.end(`vllm:num_requests_waiting ${waiting}\n`));
  await new Promise<void>((resolve) => engine.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(engine.address() as AddressInfo).port}/metrics`;
}

/** `gpu` is rewritten for only while it is degraded: the service's filter is made when the meter says so. */
function degradeGpu(config: ShippedConfig): void {
  const gpu = clusterOf(config, "gpu");
  Object.assign(gpu.metadata.filter_metadata["llm.breaker"], {
    degradedMaxOutputTokens: "256",
    degradedRemove: "tools",
  });
  const rewrite = protocolOf(clusterOf(config, "small")).http_filters.find(
    ({ name }) => name === "llm.breaker.rewrite",
  );
  const count = connectionManager(config).http_filters.find(({ name }) => name === "llm.breaker.count");
  const text = JSON.stringify(count).replace("wasm.llm.breaker.step", "wasm.llm.breaker.degrade");
  const filter = JSON.parse(text) as Filter & { typed_config: Matched };
  const [matcher] = filter.typed_config.xds_matcher.matcher_list.matchers;
  assert.ok(matcher && rewrite);
  matcher.predicate.single_predicate.value_match = {
    safe_regex: { google_re2: {}, regex: "half-open|queue" },
  };
  matcher.on_match.action.typed_config.typed_config = rewrite;
  protocolOf(gpu).http_filters.splice(1, 0, filter);
}

interface Matched {
  xds_matcher: {
    matcher_list: {
      matchers: {
        predicate: { single_predicate: { value_match: unknown } };
        on_match: { action: { typed_config: { typed_config: unknown } } };
      }[];
    };
  };
}

before(async () => {
  const metrics = await startMetrics();
  rig = await startRig({
    serviceConfig: { signals: { period: "100ms", backends: { small: { metrics, longQueue: 5 } } } },
    policy: ({ breaker }) => {
      breaker.consecutiveFailuresThreshold = 0;
      breaker.failureRateThreshold = 0;
      breaker.ramp = [{ percent: 100, maxConcurrent: 2, successes: 50 }];
      breaker.canary = { size: "count", maxPromptTokens: 256, maxOutputTokens: 1024 };
    },
    patch: degradeGpu,
  });
});

beforeEach(() => rig.reset());

after(async () => {
  await rig.stop();
  engine.close();
});

const bodyAt = (alias: "gpu" | "small") =>
  JSON.parse(rig[alias].arrivals.findLast(({ body }) => !isProbe(body))?.body.toString() ?? "{}");

const ask = () => chat(rig.url, { maxTokens: 1000, extra: { tools } });

test("a healthy backend gets what the caller asked", async () => {
  await ask();
  assert.deepEqual([bodyAt("gpu").max_tokens, bodyAt("gpu").tools], [1000, tools]);
});

test("a backend whose engine's queue is long is asked for less, until it is short again", async () => {
  rig.gpu.mode = { kind: "status", status: 500 };
  const capIs = (cap: number) => async (): Promise<boolean> => {
    await ask();
    return bodyAt("small").max_tokens === cap;
  };
  await waitFor(capIs(1000), 5_000, "the usual cap");
  waiting = 5;
  await waitFor(capIs(512), 8_000, "the degraded cap");
  waiting = 4;
  await waitFor(capIs(1000), 8_000, "the usual cap again");
});

test("a canary of a half-open backend is asked for less, and no tools", async () => {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  rig.gpu.mode = { kind: "ok" };
  await waitFor(() => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED", 10_000, "the ramp");
  rig.gpu.reset();
  const answer = await ask();
  assert.equal(answer.headers["x-llm-breaker-backend"], "gpu", answer.text);
  assert.deepEqual([bodyAt("gpu").max_tokens, bodyAt("gpu").tools], [256, undefined]);
  assert.equal(bodyAt("gpu").model, "qwen3-32b");
  assert.ok(!rig.gpu.arrivals.at(-1)?.rawHeaders.some((text) => /^x-llm-breaker-/i.test(text)));
});
