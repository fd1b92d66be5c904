import { patchShipped } from "../e2e/support/rig.js";
import {
  chainOf,
  clusterOf,
  connectionManager,
  describeCluster,
  type Filter,
  type PolicyJson,
  protocolOf,
  type ShippedConfig,
} from "../e2e/support/shipped-config.js";

/** Longer than a busy machine takes, and short enough that what is stopped is missed. */
export const firstTokenTimeoutMs = 3_000;
/** Of an answer in one piece. */
export const answerTimeoutMs = 8_000;
export const stallTimeoutMs = 4_000;
/** Calls that gpu may have at once, of one gateway: enough for the load, and a leak of them shows. */
export const mostCalls = 64;
/** Canaries at once of the whole group. */
export const canaryCap = 2;
/** Tells a backend when its gateway sent it the attempt, in seconds of the wall clock: a stopped process reads late. */
export const SENT_AT_HEADER = "x-sent-at";

export interface GatewayShape {
  readonly name: string;
  /** Where its requests come from, so that backends can tell gateways apart. */
  readonly sourceAddress: string;
  /** Another build of the filter, in place of the shipped modules. */
  readonly module?: string;
  readonly accessLog?: string;
}

/**
 * envoy/full.yaml with timers cut short. The second tier stays one whose bodies the service rewrites; the third takes requests
 * as they are and is nobody's victim, so that a healthy tier is always left.
 */
export function patchGateway(config: ShippedConfig, shape: GatewayShape): void {
  Object.assign(config.node, { id: shape.name });
  patchShipped(config, { policy }, true);
  const last = clusterOf(config, "public");
  describeCluster(config, "public", { backend: "public" });
  const options = protocolOf(last);
  options.http_filters = options.http_filters.filter(({ name }) => /meter|codec/.test(name));
  for (const name of ["gpu", "small", "public"]) {
    const source = { address: shape.sourceAddress, port_value: 0 };
    const cluster = clusterOf(config, name);
    Object.assign(cluster, { upstream_bind_config: { source_address: source } });
    protocolOf(cluster).http_filters.unshift(stamp);
  }
  if (shape.module) useModule(config, shape.module);
  if (shape.accessLog) logAccess(config, shape.accessLog);
}

function policy(policy: PolicyJson): void {
  const { breaker, backends } = policy;
  Object.assign(breaker, {
    waitDurationInOpenState: "1s",
    maxWaitDurationInOpenState: "2s",
    backoffResetAfter: "5s",
    ramp: [{ percent: 50, maxConcurrent: canaryCap, successes: 3 }],
  });
  breaker.probe = { ...(breaker.probe as object), firstTokenMax: "3s", lease: "4s" };
  Object.assign(backends.gpu ?? {}, { maxConcurrentCalls: mostCalls });
  Object.assign(backends.public ?? {}, { rewritesBody: false });
  const timeouts = {
    firstTokenTimeout: `${firstTokenTimeoutMs}ms`,
    // It becomes the per_try_timeout of Envoy, which knows only seconds.
    answerTimeout: `${answerTimeoutMs / 1_000}s`,
    stallTimeout: `${stallTimeoutMs}ms`,
  };
  policy.chains = { chat: { ...chainOf(policy), ...timeouts } };
}

/** Among a cluster's own filters the start is that of the attempt, not of the caller's request. */
const stamp: Filter = {
  name: "stamp",
  typed_config: {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation",
    mutations: {
      request_mutations: [
        {
          append: {
            header: { key: SENT_AT_HEADER, value: "%START_TIME(%s.%3f)%" },
            append_action: "OVERWRITE_IF_EXISTS_OR_ADD",
          },
        },
      ],
    },
  },
};

/** Every VM of the configuration runs it. */
function useModule(node: unknown, file: string): void {
  if (typeof node !== "object" || node === null) return;
  const { filename } = node as { filename?: unknown };
  if (typeof filename === "string" && filename.endsWith(".wasm")) Object.assign(node, { filename: file });
  for (const value of Object.values(node)) useModule(value, file);
}

/** A line for each request: the caller's credential, the VM that it met, and how it ended. */
function logAccess(config: ShippedConfig, path: string): void {
  const line = "%REQ(AUTHORIZATION)% %FILTER_STATE(wasm.debug.vm:PLAIN)% %RESPONSE_CODE_DETAILS%\n";
  const manager = connectionManager(config) as unknown as { access_log: unknown[] };
  manager.access_log.push({
    name: "envoy.access_loggers.file",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
      path,
      log_format: { text_format_source: { inline_string: line } },
    },
  });
}
