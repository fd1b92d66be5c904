import { Rig } from "../e2e/support/rig.js";
import {
  chainOf,
  connectionManager,
  gateOf,
  type PolicyJson,
  policyOf,
  retryPolicyOf,
  type ShippedConfig,
  setPolicyText,
  shipped,
} from "../e2e/support/shipped-config.js";
import { startEnvoy } from "../support/envoy.js";
import { freePort } from "../support/ports.js";
import { type RunningService, startService } from "../support/service.js";
import { startUpstream } from "../support/upstream.js";

export type Commit = "firstToken" | "complete";
export const commits: readonly Commit[] = ["firstToken", "complete"];

/** Of a chain that commits complete answers only. */
const completeAnswerTimeout = "12s";

/** The real ext_proc service; it keeps no state of its own, so one serves all chains. */
export interface SharedService {
  readonly grpcPort: number;
  readonly httpPort: number;
  readonly running: RunningService;
}

export async function startSharedService(): Promise<SharedService> {
  const grpcPort = await freePort();
  const httpPort = await freePort();
  const listen = { grpc: `127.0.0.1:${grpcPort}`, http: `127.0.0.1:${httpPort}`, admin: "off" };
  const running = await startService({ config: { listen, log: { level: "warn" } }, httpPort });
  return { grpcPort, httpPort, running };
}

export interface ChainSettings {
  readonly commit: Commit;
  readonly service: SharedService;
  readonly policy?: (policy: PolicyJson) => void;
}

/** envoy/full.yaml with its own timers, in an Envoy of its own, so that no breaker knows of another fault. */
export async function startChain({ commit, service, policy }: ChainSettings): Promise<Rig> {
  const [gpu, small, public_] = await Promise.all([startUpstream(), startUpstream(), startUpstream()]);
  try {
    const envoy = await startEnvoy({
      configFile: "envoy/full.yaml",
      ports: {
        ...{ 9101: gpu.port, 9102: small.port, 9103: public_.port },
        ...{ 9002: service.grpcPort, 9003: service.httpPort },
      },
      patch: (config) => {
        patchPolicy(shipped(config), commit, policy);
        logAttempts(shipped(config));
      },
    });
    return new Rig(envoy, gpu, small, public_, undefined);
  } catch (error) {
    for (const upstream of [gpu, small, public_]) await upstream.stop();
    throw error;
  }
}

function patchPolicy(config: ShippedConfig, commit: Commit, change?: (policy: PolicyJson) => void): void {
  const gate = gateOf(config);
  const policy = policyOf(gate);
  if (commit === "complete") {
    Object.assign(chainOf(policy), { commit, answerTimeout: completeAnswerTimeout });
    const retries = retryPolicyOf(config);
    if (retries) retries.per_try_timeout = completeAnswerTimeout;
  }
  change?.(policy);
  setPolicyText(gate, JSON.stringify(policy));
}

const attemptMark = "fault attempt";

/** Envoy's own record of each attempt, those that no upstream saw included; probes do not pass this router. */
function logAttempts(config: ShippedConfig): void {
  const router = connectionManager(config).http_filters.find(({ name }) => name.endsWith(".router"));
  if (!router?.typed_config) throw new Error("envoy/full.yaml has no router filter");
  const log_format = { text_format_source: { inline_string: `${attemptMark} %UPSTREAM_CLUSTER%\n` } };
  const type = "type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog";
  router.typed_config.upstream_log = [
    { name: "envoy.access_loggers.stdout", typed_config: { "@type": type, log_format } },
  ];
}

export interface Attempts {
  readonly gpu: number;
  readonly small: number;
  readonly public: number;
}

/** How often callers' requests were tried at each tier. Whole only once Envoy has ended, which writes out its log. */
export function attemptsOf(rig: Rig): Attempts {
  const count = (cluster: string): number =>
    rig.envoy.logLines.filter((line) => line.trim() === `${attemptMark} ${cluster}`).length;
  return { gpu: count("gpu"), small: count("small"), public: count("public") };
}
