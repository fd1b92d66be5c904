import { type RunningEnvoy, startEnvoy } from "../../support/envoy.js";
import { parseEnvoyConfig } from "../../support/envoy-config.js";
import { freePort } from "../../support/ports.js";
import { type RunningService, startService } from "../../support/service.js";
import { startUpstream, type Upstream } from "../../support/upstream.js";
import { waitFor } from "../../support/wait-for.js";
import {
  chainOf,
  gateOf,
  type PolicyJson,
  policyOf,
  protocolOf,
  retryPolicyOf,
  type ShippedConfig,
  setPolicyText,
  shipped,
} from "./shipped-config.js";

export type Alias = "gpu" | "small" | "public";

export const CLOSED = 0;
export const OPEN = 1;
export const HALF_OPEN = 2;

export interface RigSettings {
  readonly file?: "full" | "minimal";
  /** What Envoy reads in the shipped file's place: something made of it. */
  readonly text?: string;
  readonly concurrency?: number;
  readonly policy?: (policy: PolicyJson) => void;
  readonly patch?: (config: ShippedConfig) => void;
  /** Whether the real ext_proc service runs; without it the policy does not name one. */
  readonly service?: boolean;
  /** Further settings of the service. */
  readonly serviceConfig?: Readonly<Record<string, unknown>>;
  /** Where the control API listens; nowhere when absent. */
  readonly adminPort?: number;
  readonly h2c?: boolean;
  readonly logLevel?: string;
  /** Ports that `patch` brings in and that must stay as they are. */
  readonly fixedPorts?: readonly number[];
  /** Where ports of the file are, other than its own. */
  readonly movedPorts?: Readonly<Record<number, number>>;
}

export interface Transition {
  readonly backend: string;
  readonly from: string;
  readonly to: string;
  readonly cause: string;
  readonly waitMs: number;
  readonly atMs: number;
}

/** A shipped file on free ports in front of three fake backends, with the policy's timers cut short. */
export class Rig {
  readonly url: string;

  constructor(
    readonly envoy: RunningEnvoy,
    readonly gpu: Upstream,
    readonly small: Upstream,
    readonly public_: Upstream,
    readonly service: RunningService | undefined,
  ) {
    this.url = envoy.url(10000);
  }

  counter(alias: Alias, name: string): Promise<number> {
    return this.envoy.stat(`wasmcustom.llm_breaker.${alias}.${name}`);
  }

  state(alias: Alias = "gpu"): Promise<number> {
    return this.counter(alias, "state");
  }

  async waitForState(state: number, alias: Alias = "gpu", timeoutMs = 10_000): Promise<void> {
    const what = `state ${state} of ${alias}`;
    await waitFor(async () => (await this.state(alias)) === state, timeoutMs, what);
  }

  async waitForCounter(alias: Alias, name: string, least: number, timeoutMs = 10_000): Promise<void> {
    const what = `${alias}.${name} of ${least}`;
    await waitFor(async () => (await this.counter(alias, name)) >= least, timeoutMs, what);
  }

  transitions(alias: Alias = "gpu"): Transition[] {
    return this.envoy.log
      .matching(/llm\.breaker transition \{/)
      .map((line) => JSON.parse(line.slice(line.indexOf("{"), line.lastIndexOf("}") + 1)) as Transition)
      .filter((transition) => transition.backend === alias);
  }

  async waitForCause(cause: string, alias: Alias = "gpu", timeoutMs = 10_000): Promise<Transition> {
    const what = `a transition of ${alias} by ${cause}`;
    return await waitFor(
      () => this.transitions(alias).find((transition) => transition.cause === cause),
      timeoutMs,
      what,
    );
  }

  /** Every backend works and has seen nothing. */
  reset(): void {
    for (const upstream of [this.gpu, this.small, this.public_]) {
      upstream.mode = { kind: "ok" };
      upstream.reset();
    }
  }

  /** How many requests each tier got since the last reset. */
  get hits(): [gpu: number, small: number, public_: number] {
    return [this.gpu.arrivals.length, this.small.arrivals.length, this.public_.arrivals.length];
  }

  async stop(): Promise<void> {
    await this.envoy.stop();
    await this.service?.stop();
    for (const upstream of [this.gpu, this.small, this.public_]) await upstream.stop();
  }
}

/** Whether a request of this body is the breaker's own probe, and no caller's. */
export function isProbe(body: Buffer): boolean {
  return body.includes('"max_tokens":1}');
}

/** Breaker settings: nothing that opened is probed before the test is over. */
export const staysOpen = { waitDurationInOpenState: "60s", maxWaitDurationInOpenState: "60s" } as const;

/** Timers of a few hundred milliseconds, and a ramp that any small request passes. */
export function quicken(policy: PolicyJson): void {
  Object.assign(policy.breaker, {
    waitDurationInOpenState: "300ms",
    maxWaitDurationInOpenState: "600ms",
    ramp: [{ percent: 100, maxConcurrent: 2, successes: 2 }],
  });
  policy.breaker.probe = { ...(policy.breaker.probe as object), lease: "4s", firstTokenMax: "3s" };
  Object.assign(chainOf(policy), { firstTokenTimeout: "1s", answerTimeout: "4s", stallTimeout: "1500ms" });
}

/** Breaker settings: every trigger is off. */
export const noTrigger = {
  consecutiveFailuresThreshold: 0,
  failureRateThreshold: 0,
  failureCountThreshold: 0,
  slowCallRateThreshold: 0,
  consecutiveSlowCallsThreshold: 0,
  latencyDriftThreshold: 0,
  costRateThreshold: 0,
  backpressureRateThreshold: 0,
  engineFatal: false,
  outOfMemoryThreshold: 0,
} as const;

/** No failure opens it: what is under test is what happens to one request. */
export function neverOpen(policy: PolicyJson): void {
  Object.assign(policy.breaker, noTrigger);
}

export function sizeByEstimate(policy: PolicyJson): void {
  policy.breaker.canary = { ...(policy.breaker.canary as object), size: "estimate" };
}

export function balanceExactly(config: ShippedConfig): void {
  for (const listener of config.static_resources.listeners) {
    listener.connection_balance_config = { exact_balance: {} };
  }
}

export async function startRig(settings: RigSettings = {}): Promise<Rig> {
  const file = settings.file ?? "full";
  const hasService = settings.service ?? file === "full";
  const [gpu, small, public_] = await Promise.all([
    startUpstream({ h2c: settings.h2c ?? false }),
    startUpstream(),
    startUpstream(),
  ]);
  const grpcPort = await freePort();
  const httpPort = await freePort();
  const admin = settings.adminPort === undefined ? "off" : `127.0.0.1:${settings.adminPort}`;
  const listen = { grpc: `127.0.0.1:${grpcPort}`, http: `127.0.0.1:${httpPort}`, admin };
  const upstreams = { gpu, small, public_ };
  const service = hasService
    ? await startService({ config: { listen, log: { level: "warn" }, ...settings.serviceConfig }, httpPort })
    : undefined;
  try {
    const envoy = await startEnvoy({
      ...(settings.text ? { config: parseEnvoyConfig(settings.text) } : { configFile: `envoy/${file}.yaml` }),
      concurrency: settings.concurrency ?? 2,
      ...(settings.logLevel && { logLevel: settings.logLevel }),
      ports: {
        ...Object.fromEntries((settings.fixedPorts ?? []).map((port) => [port, port])),
        ...settings.movedPorts,
        ...{ 9101: gpu.port, 9102: small.port, 9103: public_.port, 9002: grpcPort, 9003: httpPort },
      },
      patch: (config) => patchShipped(shipped(config), settings, hasService),
    });
    return new Rig(envoy, gpu, small, public_, service);
  } catch (error) {
    await service?.stop();
    for (const upstream of Object.values(upstreams)) await upstream.stop();
    throw error;
  }
}

/** Without the service nothing is rewritten, so no guard may wait for it. */
function leaveBodiesAsTheyAre(config: ShippedConfig): void {
  for (const cluster of config.static_resources.clusters) {
    const options = cluster.metadata && protocolOf(cluster);
    if (options)
      options.http_filters = options.http_filters.filter(({ name }) => !/rewrite|guard/.test(name));
  }
}

export function patchShipped(config: ShippedConfig, settings: RigSettings, hasService: boolean): void {
  const gate = gateOf(config);
  const policy = policyOf(gate);
  quicken(policy);
  // Tests make more chains like it; its models come to it all the same, since it is the default.
  delete chainOf(policy).models;
  if (!hasService) {
    delete policy.service;
    sizeByEstimate(policy);
    for (const chain of Object.values(policy.chains)) withoutService(chain);
    leaveBodiesAsTheyAre(config);
  }
  settings.policy?.(policy);
  setPolicyText(gate, JSON.stringify(policy));
  const retries = retryPolicyOf(config);
  if (retries) retries.per_try_timeout = chainOf(policy).answerTimeout ?? "4s";
  settings.patch?.(config);
}

/** What only the service can do is refused by a policy that names none. */
function withoutService(chain: Record<string, unknown>): void {
  delete chain.limits;
  const { action } = (chain.exhausted ?? {}) as { action?: string };
  if (action === "fixed" || action === "cached") delete chain.exhausted;
}

/** Sends until the backend is closed again; each send is to be a small request that may be a canary. */
export async function recover(rig: Rig, send: () => Promise<unknown>, alias: Alias = "gpu"): Promise<void> {
  const deadline = performance.now() + 20_000;
  while ((await rig.state(alias)) !== CLOSED) {
    if (performance.now() > deadline) throw new Error(`${alias} did not close within 20 s`);
    await send();
  }
}
