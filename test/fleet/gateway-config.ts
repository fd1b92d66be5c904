import { noTrigger, patchShipped } from "../e2e/support/rig.js";
import { chainOf, type PolicyJson, protocolOf, type ShippedConfig } from "../e2e/support/shipped-config.js";

/** Tell service-main.ts who it is. */
export const MEMBER_VARIABLE = "FLEET_MEMBER";
export const CLOCK_OFFSET_VARIABLE = "FLEET_CLOCK_OFFSET_MS";

export type Engine = "gossip" | "redis";

/** Canaries at once of the whole group. */
export const canaryCap = 2;
export const probeLeaseMs = 4_000;
/** Plus up to a fifth of it. */
export const waitMs = 2_000;

/** envoy/full.yaml with timers cut short, and behind the GPUs one tier that takes requests as they are. */
export function patchGateway(config: ShippedConfig, name: string): void {
  Object.assign(config.node, { id: name });
  for (const cluster of config.static_resources.clusters) {
    const options = cluster.metadata && protocolOf(cluster);
    if (options)
      options.http_filters = options.http_filters.filter(({ name }) => !/rewrite|guard/.test(name));
  }
  patchShipped(config, { policy }, true);
}

function policy(policy: PolicyJson): void {
  const { breaker, backends } = policy;
  Object.assign(breaker, {
    waitDurationInOpenState: `${waitMs}ms`,
    maxWaitDurationInOpenState: `${waitMs}ms`,
    backoffResetAfter: "0s",
    ramp: [{ percent: 100, maxConcurrent: canaryCap, successes: 5 }],
  });
  breaker.probe = { ...(breaker.probe as object), firstTokenMax: "2s", lease: `${probeLeaseMs}ms` };
  for (const backend of Object.values(backends)) backend.rewritesBody = false;
  Object.assign(backends.small ?? {}, { breaker: noTrigger });
  // Longer than a busy machine takes for an answer.
  const timeouts = { firstTokenTimeout: "8s", answerTimeout: "15s", stallTimeout: "8s" };
  policy.chains = {
    chat: { ...chainOf(policy), ...timeouts, tiers: ["gpu", "small"], sameTierRetries: 0 },
  };
}

/** How the members of a group reach each other. */
export interface Meeting {
  readonly engine: Engine;
  readonly keyFile: string;
  /** Of gossip: where each member listens. */
  readonly addresses: readonly string[];
  readonly redisUrl: string;
}

export function peersOf(meeting: Meeting, member: number): object {
  const { engine, keyFile, addresses, redisUrl } = meeting;
  const name = `gateway-${member}`;
  if (engine === "redis") return { name, keyFile, redis: { url: redisUrl } };
  return { name, keyFile, gossip: { listen: addresses[member], members: addresses } };
}
