import { startEnvoy } from "../../../test/support/envoy.js";
import type { EnvoyConfig } from "../../../test/support/envoy-config.js";
import type { Racer, RunningRacer, Track } from "../racer.js";
import { endpointsOf } from "./endpoints.js";

/** As much above the engines' slots as ours lets in. */
const queueShare = 0.25;

/** Stock Envoy with what it has for such cases. bench/race/racers/envoy.yaml tells of each setting. */
export const envoy: Racer = {
  name: "envoy",
  what:
    "plain Envoy, two workers, at its best: retries on an aggregate cluster's next priority, outlier detection (streaks, rates, " +
    "short ejections), health checks, a circuit breaker a quarter above the engine's slots and admission_control, behind a hop so " +
    "that what those refuse is retried, too",
  available: async () => undefined,
  start,
};

async function start(track: Track): Promise<RunningRacer> {
  const running = await startEnvoy({
    configFile: "bench/race/racers/envoy.yaml",
    concurrency: 2,
    logLevel: "error",
    patch: (config) => adapt(config as unknown as PlainConfig, track),
    ports: { 9103: track.fallback, ...Object.fromEntries(track.nodes.map((port) => [port, port])) },
  });
  return { port: running.port(10_000), pids: [running.pid], stop: () => running.stop() };
}

interface PlainConfig extends EnvoyConfig {
  static_resources: {
    listeners: { filter_chains: { filters: { typed_config: Manager }[] }[] }[];
    clusters: Cluster[];
  };
}

interface Manager {
  route_config: { virtual_hosts: { routes: { route: { retry_policy?: Record<string, unknown> } }[] }[] };
}

interface Cluster {
  name: string;
  circuit_breakers: { thresholds: { max_requests: number }[] };
  outlier_detection?: { max_ejection_percent: number };
  load_assignment: { endpoints: { lb_endpoints: object[] }[] };
}

function adapt({ static_resources: { listeners, clusters } }: PlainConfig, track: Track): void {
  const routes = listeners.map((listener) => {
    return listener.filter_chains[0]?.filters[0]?.typed_config.route_config.virtual_hosts[0]?.routes[0]
      ?.route;
  });
  const [outer, inner] = routes;
  const primary = clusters.find(({ name }) => name === "primary");
  const [threshold] = primary?.circuit_breakers.thresholds ?? [];
  const [endpoints] = primary?.load_assignment.endpoints ?? [];
  if (!outer?.retry_policy || !inner || !primary?.outlier_detection || !threshold || !endpoints) {
    throw new Error("bench/race/racers/envoy.yaml is not what the racer takes it for");
  }
  outer.retry_policy.per_try_timeout = `${track.limits.answerMs / 1000}s`;
  threshold.max_requests = Math.ceil(track.slots * track.nodes.length * (1 + queueShare));
  endpoints.lb_endpoints = endpointsOf(track.nodes);
  if (track.nodes.length > 1) primary.outlier_detection.max_ejection_percent = 50;
  else delete inner.retry_policy;
}
