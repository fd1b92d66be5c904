import { CliError } from "../../cli-error.js";
import { backendCluster } from "../parts/cluster.js";
import { listener } from "../parts/listener.js";
import { hasMatcher } from "../parts/routing.js";
import { ASKED_CLUSTER, serviceClusters } from "../parts/service.js";
import { statsConfig } from "../parts/stats.js";
import { stopCluster, type UpstreamPlace } from "../parts/upstream.js";
import type { Plan } from "../plan.js";
import type { Target } from "../target.js";
import { commented, type YamlMap } from "../yaml/value.js";
import { writeSharing } from "../yaml/writer.js";
import { ENVOY_HELP, ENVOY_OPTIONS, type EnvoyMeans, envoyMeans } from "./envoy-options.js";

export const envoyTarget: Target = {
  name: "envoy",
  help: ENVOY_HELP,
  options: ENVOY_OPTIONS,
  write(plan, values) {
    const means = envoyMeans(values);
    return { text: writeEnvoy(plan, means), notes: notesFor(plan, means) };
  },
};

/** The whole configuration of an Envoy that does nothing else. */
export function writeEnvoy(plan: Plan, means: EnvoyMeans): string {
  return writeSharing(headerFor(plan, means), envoyConfig(plan, means));
}

export function envoyConfig(plan: Plan, means: EnvoyMeans): YamlMap {
  const place = placeOf(plan, means);
  return {
    node: commented("Give each Envoy an id of its own: by it the service knows which one has started anew.", {
      id: plan.name,
      cluster: "llm-breaker",
    }),
    admin: { address: { socket_address: { address: "127.0.0.1", port_value: 9901 } } },
    stats_config: commented("Prometheus then shows a backend, and a chain, as a label.", statsConfig()),
    static_resources: {
      listeners: [listener(plan, place, means.canChangeCluster)],
      clusters: clustersOf(plan, place),
    },
  };
}

/** @throws CliError for what that Envoy can't do. */
export function placeOf(plan: Plan, { wasmFolder, canPrefixKeys = true }: EnvoyMeans): UpstreamPlace {
  const prefixed = plan.backends.find(
    ({ credential }) => credential !== undefined && credential.prefix !== "",
  );
  if (prefixed !== undefined && !canPrefixKeys) {
    const { alias } = prefixed;
    throw new CliError(
      1,
      `backends.${alias}.keyPrefix needs Envoy 1.37: put the whole value into keyFile instead`,
    );
  }
  return { wasmFolder, serviceCluster: plan.service && ASKED_CLUSTER };
}

function clustersOf(plan: Plan, place: UpstreamPlace): YamlMap[] {
  const backends = plan.backends.map((backend) => {
    const { alias, url } = backend;
    if (url !== undefined) return backendCluster(backend, url, place);
    throw new CliError(1, `backends.${alias} needs a url: only with --into may its cluster be there already`);
  });
  return [...backends, ...clustersOfOurs(plan, place)];
}

/** What is behind none of the backends. */
export function clustersOfOurs(plan: Plan, place: UpstreamPlace): YamlMap[] {
  const stop = hasMatcher(plan) ? [stopCluster(place)] : [];
  return [...stop, ...(plan.service ? serviceClusters(plan.service) : [])];
}

function headerFor(plan: Plan, { canChangeCluster }: EnvoyMeans): string {
  const chains = plan.chains.map(({ name, tiers }) => `${name} = ${tiers.join(" → ")}`);
  const service = plan.service ? " → [count] → [admit]" : "";
  const lines = [
    `The breaker "${plan.name}": ${chains.join("; ")}.`,
    "Written by `llm-breaker render`: change the policy and render again, rather than this file.",
    "",
    `  client ${plan.listen} → [gate]${service} → router → a tier's cluster: [meter] → upstream`,
    "",
    "Every setting marked TRAP drops callers, or bites them, when it is left at Envoy's default: docs/operations.md.",
  ];
  if (!canChangeCluster) lines.push("For an Envoy before 1.39, whose retries stay on their cluster.");
  return lines.join("\n");
}

/** What else is needed for it to run. */
export function notesFor(plan: Plan, { canChangeCluster }: EnvoyMeans): string[] {
  const notes: string[] = [];
  if (!canChangeCluster) {
    notes.push("Envoy before 1.39 fails nothing over in flight, so refresh_cluster_on_retry is left out");
  }
  for (const { alias, credential } of plan.backends) {
    if (credential === undefined) continue;
    const { secretFile, secretName } = credential;
    notes.push(
      `${alias}: ${secretFile} must hold an SDS secret named ${secretName}, like envoy/secrets/public-key.yaml`,
    );
  }
  if (plan.isTraced) {
    notes.push(
      "tracing: Envoy's own part is yours, the lines behind #: in envoy/full.yaml (docs/operations.md, Traces)",
    );
  }
  if (plan.service) {
    const { host, grpcPort, httpPort } = plan.service;
    notes.push(`the service must run on ${host}, ports ${grpcPort} and ${httpPort}`);
  } else {
    notes.push(
      "nothing needs the service, so Envoy is not told of one: no live page, status, orders or webhooks. " +
        "service: 127.0.0.1 in the policy changes that",
    );
  }
  return notes;
}
