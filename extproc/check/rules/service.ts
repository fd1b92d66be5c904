import { type HttpFilter, PICKER, serviceRole } from "../setup/filters.js";
import type { Setup } from "../setup/setup.js";
import type { Rule } from "./rule.js";

const MIN_MESSAGE_TIMEOUT_MS = 500;
const ANSWER_KEYS = ["answerModel", "dialect"];

/** ext_proc filters of ours whose configuration is in the files. */
function calls(setup: Setup, ...roles: HttpFilter["role"][]): readonly HttpFilter[] {
  return setup.serviceFilters.filter(
    ({ role, config }) => roles.includes(role) && config.type === "ExternalProcessor",
  );
}

export const serviceRules: readonly Rule[] = [
  {
    id: "message-timeout",
    level: "error",
    harm: "large bodies go uncounted, or to a tier unrewritten",
    fix: "message_timeout: 1s",
    *find(setup) {
      for (const { name, config } of calls(setup, "count", "rewrite")) {
        const timeoutMs = config.millisecondsOf("message_timeout");
        if (timeoutMs !== undefined && timeoutMs >= MIN_MESSAGE_TIMEOUT_MS) continue;
        yield {
          at: config.get("message_timeout") ?? config,
          what: `message_timeout of ${name} is ${timeoutMs === undefined ? "200 ms, Envoy's default" : `${timeoutMs} ms`}`,
        };
      }
    },
  },
  {
    id: "grpc-timeout",
    level: "error",
    harm: "it bounds the whole stream, not one message: what takes longer fails",
    fix: "no timeout in grpc_service; message_timeout bounds each message",
    *find(setup) {
      for (const { name, config } of calls(setup, "count", "rewrite", "remember")) {
        const timeout = config.get("grpc_service", "timeout");
        if (timeout && timeout.text !== "0s")
          yield { at: timeout, what: `grpc_service of ${name} has a timeout` };
      }
    },
  },
  {
    id: "service-fail-closed",
    level: "error",
    harm: "while the service is away callers get an empty 500, which is not retried",
    fix: "failure_mode_allow: true, and the guard behind the rewrite",
    *find(setup) {
      for (const { name, config } of calls(setup, "count", "rewrite", "remember")) {
        if (!config.isTrue("failure_mode_allow"))
          yield { at: config.get("failure_mode_allow") ?? config, what: `${name} fails closed` };
      }
    },
  },
  {
    id: "forward-rules",
    level: "error",
    harm: "the service is sent every header, callers' keys too",
    fix: "forward_rules with the allowed_headers of envoy/full.yaml",
    *find(setup) {
      for (const { name, config } of calls(setup, "count", "rewrite", "remember")) {
        const allowed =
          config.get("forward_rules", "allowed_headers") ?? config.get("forward_rules", "disallowed_headers");
        if (!allowed)
          yield { at: config.get("forward_rules") ?? config, what: `${name} has no forward_rules` };
      }
    },
  },
  {
    id: "service-role",
    level: "error",
    harm: "the service does not know what it is asked for, and refuses the stream",
    fix: "initial_metadata: [{ key: x-llm-breaker-role, value: count }] (or rewrite, remember) in its grpc_service",
    *find(setup) {
      for (const { name, config } of calls(setup, "count", "rewrite", "remember")) {
        const role = serviceRole(config);
        if (!["count", "rewrite", "remember"].includes(role ?? ""))
          yield {
            at: config.get("grpc_service") ?? config,
            what: `${name} tells the role ${role ?? "not at all"}`,
          };
      }
    },
  },
  {
    id: "body-mode",
    level: "error",
    harm: "without the whole body nothing can be counted or rewritten; BUFFERED_PARTIAL drops content-length, which some servers require",
    fix: "processing_mode: { request_header_mode: SEND, request_body_mode: BUFFERED, response_header_mode: SKIP, … }",
    *find(setup) {
      const overridden = setup.routes.length === 0 || setup.isMesh;
      for (const { name, config, isDisabled } of calls(setup, "count", "rewrite")) {
        const mode = config.textOf("processing_mode", "request_body_mode") ?? "NONE";
        if (mode === "BUFFERED" || (overridden && mode === "NONE") || isDisabled) continue;
        yield {
          at: config.get("processing_mode") ?? config,
          what: `request_body_mode of ${name} is ${mode}`,
        };
      }
    },
  },
  {
    id: "receiving-namespaces",
    level: "error",
    harm: "Envoy drops what the service has counted: nobody becomes a canary, limits never hold",
    fix: "metadata_options: { receiving_namespaces: { untyped: [llm.breaker] } }",
    *find(setup) {
      for (const { name, config } of calls(setup, "count")) {
        const namespaces = config.list("metadata_options", "receiving_namespaces", "untyped");
        if (!namespaces.some(({ text }) => text === "llm.breaker"))
          yield {
            at: config.get("metadata_options") ?? config,
            what: `${name} does not receive the namespace llm.breaker`,
          };
      }
    },
  },
  {
    id: "request-attributes",
    level: "error",
    harm: "the service does not hear what it decides by: rules of a cluster are off, or no request is a canary",
    fix: "the request_attributes of envoy/full.yaml",
    *find(setup) {
      const needed = { count: "filter_state['wasm.llm.breaker.canary']", rewrite: "xds.cluster_metadata" };
      for (const { name, role, config } of calls(setup, "count", "rewrite")) {
        const attribute = needed[role as keyof typeof needed];
        if (config.list("request_attributes").some(({ text }) => text === attribute)) continue;
        yield {
          at: config.get("request_attributes") ?? config,
          what: `request_attributes of ${name} lack ${attribute}`,
        };
      }
    },
  },
  {
    id: "mode-override",
    level: "error",
    harm: "the service can't ask for the answer: it stays in the backend's dialect, or names the backend's model",
    fix: "allow_mode_override: true on llm.breaker.rewrite",
    *find(setup) {
      for (const { filters, metadata, name } of setup.backends) {
        const rewrite = filters.find(({ role }) => role === "rewrite");
        const key = ANSWER_KEYS.find((each) => metadata.has(each) && metadata.get(each)?.text !== "backend");
        if (key && rewrite && !rewrite.config.isTrue("allow_mode_override"))
          yield {
            at: rewrite.config,
            what: `cluster ${name} has ${key} and its rewrite no allow_mode_override`,
          };
      }
    },
  },
  {
    id: "ext-proc-name",
    level: "error",
    harm: "an InferencePool's endpoint picker has that name: its settings of a route hit our filter, and ours the picker",
    fix: "llm.breaker.count, llm.breaker.rewrite, llm.breaker.remember",
    *find(setup) {
      for (const { name, at, role } of setup.serviceFilters) {
        if (name === PICKER) yield { at, what: `the filter for ${role} is called ${name}` };
      }
    },
  },
  {
    id: "count-always",
    level: "warning",
    harm: "every body is buffered and counted, not only those of canaries and of callers with limits: callers wait for the service",
    fix: "ExtensionWithMatcher around it, by wasm.llm.breaker.step, as in envoy/full.yaml",
    *find(setup) {
      for (const { at, name, isMatched, isDisabled, config } of calls(setup, "count")) {
        const isOff = config.textOf("processing_mode", "request_body_mode") !== "BUFFERED";
        if (!isMatched && !isDisabled && !isOff) yield { at, what: `${name} stands in no matcher` };
      }
    },
  },
  {
    id: "count-missing",
    level: "error",
    harm: "what the policy wants counted or limited never is: recovery has to wait for estimates, callers are not limited",
    fix: 'llm.breaker.count and llm.breaker.admit behind the gate; or "canary": { "size": "estimate" }',
    *find(setup) {
      const counted = setup.filtersOfRole("count").length > 0;
      if (counted || (setup.gated.length === 0 && setup.partFilters.length === 0)) return;
      for (const { at, root, backends, chains } of setup.policies) {
        const limited = [...chains.values()].find(
          ({ hasLimits, exhausted }) => hasLimits || exhausted === "fixed" || exhausted === "cached",
        );
        const backend = [...backends.values()].find(({ countsCanaries }) => countsCanaries);
        if (limited)
          yield { at: limited.at, what: `chain ${limited.name} needs the service, and no filter asks it` };
        else if (backend)
          yield {
            at: root.at("breaker") ?? at,
            what: `canaries of ${backend.alias} are to be counted, and there is no llm.breaker.count`,
          };
      }
    },
  },
  {
    id: "service-unnamed",
    level: "error",
    harm: "while the service is away its tiers are tried by each request, operators' words and engines' signals never arrive, and what was open is forgotten with Envoy",
    fix: '"service": { "cluster": "llm-breaker-service-http" } in the policy, and that cluster',
    *find(setup) {
      for (const { at, root, serviceCluster, backends } of setup.policies) {
        if (serviceCluster !== undefined) continue;
        const rewritten = [...backends.values()].find(({ rewritesBody }) => rewritesBody);
        if (rewritten || setup.serviceFilters.length > 0)
          yield {
            at: root.at("backends") ?? at,
            what: "the policy needs the service and does not name its cluster",
          };
      }
    },
  },
  {
    id: "signals-without-source",
    level: "warning",
    harm: "nothing is ever held or shed by it: no figure arrives",
    fix: "service.cluster in the policy and `signals` in the service's settings, or loadMetrics on the cluster",
    *find(setup) {
      for (const { serviceCluster, backends } of setup.policies) {
        for (const { alias, signalFields } of backends.values()) {
          const hasHeaders = setup.backends.some(
            (cluster) => cluster.alias === alias && cluster.metadata.has("loadMetrics"),
          );
          const [field] = signalFields;
          if (field && serviceCluster === undefined && !hasHeaders)
            yield {
              at: field,
              what: `backend ${alias} goes by its engine's signals, and nothing brings any`,
            };
        }
      }
    },
  },
];
