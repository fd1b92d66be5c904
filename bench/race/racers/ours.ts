import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  shipped as asShipped,
  clusterOf,
  connectionManager,
  type ShippedConfig,
} from "../../../test/e2e/support/shipped-config.js";
import { startEnvoy } from "../../../test/support/envoy.js";
import type { EnvoyConfig } from "../../../test/support/envoy-config.js";
import { freePort } from "../../../test/support/ports.js";
import { startService } from "../../../test/support/service.js";
import { type Policy, shipped, withPolicy } from "../../configs.js";
import type { Racer, RunningRacer, Track } from "../racer.js";
import { endpointsOf } from "./endpoints.js";

const ports = { callers: 10_000, grpc: 9002, http: 9003, primary: 9101, fallback: 9103 };
/** The shipped envoy/full.yaml with the operator's own limits, and the service. */
export const ours: Racer = {
  name: "llm-breaker",
  what:
    "envoy/full.yaml as shipped, two workers and the service; of the policy only what an operator fills in: two tiers, the " +
    "promised limits, a bulkhead of the engine's slots, a window of 10 s and a longest wait of 8 s, a ramp of 20 % and two at " +
    "once, no second try of a backend that has one node, and the file's own line of outlier detection where there are more",
  available: async () => undefined,
  start,
};

async function start(track: Track): Promise<RunningRacer> {
  const listen = { grpc: await freePort(), http: await freePort(), admin: await freePort() };
  const address = (port: number): string => `127.0.0.1:${port}`;
  const service = await startService({
    config: {
      listen: { grpc: address(listen.grpc), http: address(listen.http), admin: address(listen.admin) },
      log: { level: "error" },
    },
    httpPort: listen.http,
  });
  try {
    const envoy = await startEnvoy({
      config: configFor(track),
      concurrency: 2,
      logLevel: "error",
      ports: {
        [ports.grpc]: listen.grpc,
        [ports.http]: listen.http,
        [ports.primary]: track.nodes[0] ?? 0,
        [ports.fallback]: track.fallback,
        // The other nodes have no port in the shipped file; they stay where they are.
        ...Object.fromEntries(track.nodes.map((port) => [port, port])),
      },
    });
    return {
      port: envoy.port(ports.callers),
      pids: [envoy.pid, service.pid],
      stop: async () => {
        await envoy.stop();
        await service.stop();
      },
    };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

function configFor(track: Track): EnvoyConfig {
  // Copies of the modules, which no build replaces while the race runs.
  for (const name of readdirSync(track.modules)) {
    if (name.endsWith(".wasm")) cpSync(join(track.modules, name), join(track.folder, name));
  }
  const config = withPolicy(shipped("full.yaml", track.folder), (policy) => fillIn(policy, track));
  for (const { retry_policy } of connectionManager(asShipped(config)).route_config.virtual_hosts) {
    // The same limit as the policy's answerTimeout, on Envoy's side.
    if (retry_policy) retry_policy.per_try_timeout = `${track.limits.answerMs / 1000}s`;
  }
  if (track.nodes.length > 1) spreadOver(asShipped(config), track.nodes);
  return config;
}

function fillIn(policy: Policy, { slots, nodes, limits }: Track): void {
  const { gpu, public: fallback } = policy.backends;
  const maxConcurrentCalls = slots * nodes.length;
  // The times of a race are shorter than life's, here as in the others' windows and longest ejections. The longest wait, a fifth
  // of it as jitter, and the ramp are to be over within the 15 s that are wanted (targets.ts) after a fault's end.
  Object.assign(policy.breaker, {
    slidingWindowSize: 10,
    maxWaitDurationInOpenState: "8s",
    ramp: [{ percent: 20, maxConcurrent: 2, successes: 5 }],
  });
  // As docs/tuning.md has it: twice one's own objective, which here covers any prompt. The fallback has its own pace.
  const slowMs = limits.objectiveMs * 2;
  const slow = `${slowMs}ms`;
  // A lease is to outlast its probe.
  const probe = { firstTokenMax: slow, lease: `${slowMs + 2000}ms` };
  const breaker = { slowFirstTokenThreshold: slow, slowFirstTokenPerPromptToken: "0ms", probe };
  Object.assign(policy, { backends: { gpu: { ...gpu, maxConcurrentCalls, breaker }, public: fallback } });
  Object.assign(policy.chains.chat, {
    tiers: ["gpu", "public"],
    // A second try helps where it meets another node.
    sameTierRetries: nodes.length > 1 ? 1 : 0,
    firstTokenTimeout: `${limits.firstTokenMs}ms`,
    firstTokenTimeoutPerPromptToken: "0ms",
    answerTimeout: `${limits.answerMs}ms`,
  });
  Object.assign(policy, { chains: { chat: policy.chains.chat } });
}

/** The primary's nodes, and the line that full.yaml has for such a cluster. */
function spreadOver(config: ShippedConfig, nodes: readonly number[]): void {
  const cluster = clusterOf(config, "gpu");
  const [first] = cluster.load_assignment.endpoints;
  if (first) first.lb_endpoints = endpointsOf(nodes);
  Object.assign(cluster, {
    outlier_detection: {
      consecutive_5xx: 5,
      base_ejection_time: "5s",
      max_ejection_time: "30s",
      max_ejection_percent: 50,
    },
  });
}
