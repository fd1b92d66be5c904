import type { PlannedCredential } from "../plan.js";
import { commented, type YamlMap } from "../yaml/value.js";
import { envoyGrpc, extension, typed } from "./types.js";

const BUFFERED: YamlMap = {
  request_header_mode: "SEND",
  request_body_mode: "BUFFERED",
  response_header_mode: "SKIP",
  response_body_mode: "NONE",
  request_trailer_mode: "SKIP",
  response_trailer_mode: "SKIP",
};

const SHOWN_TO_ALL = [
  ":method",
  ":path",
  ":status",
  "content-type",
  "content-encoding",
  "content-length",
  "x-request-id",
];
/** The last three name the caller: the service's `callers.headers`. */
const SHOWN_TO_COUNT = [...SHOWN_TO_ALL, "x-llm-breaker-reason", "authorization", "x-api-key", "api-key"];

function shown(headers: readonly string[]): YamlMap {
  return { allowed_headers: { patterns: headers.map((exact) => ({ exact })) } };
}

function asks(cluster: string, role: "count" | "rewrite" | "remember"): YamlMap {
  return {
    envoy_grpc: envoyGrpc(cluster),
    initial_metadata: [{ key: "x-llm-breaker-role", value: role }],
  };
}

/** `filter` is made only for requests that the gate has asked it for: any other pays for one look at its filter state. */
export function whereAsked(filter: YamlMap): YamlMap {
  return whereState(filter, "wasm.llm.breaker.step", "count|reply");
}

/** `filter` is made only while its backend is weak. */
export function whereDegraded(filter: YamlMap): YamlMap {
  return whereState(filter, "wasm.llm.breaker.degrade", "half-open|queue");
}

function whereState(filter: YamlMap, key: string, regex: string): YamlMap {
  const name = String(filter.name);
  const action = extension(name, "envoy.extensions.filters.http.composite.v3.ExecuteFilterAction", {
    typed_config: filter,
  });
  const step = extension("step", "envoy.extensions.matching.common_inputs.network.v3.FilterStateInput", {
    key,
  });
  const predicate = {
    single_predicate: {
      input: step,
      value_match: { safe_regex: { google_re2: {}, regex } },
    },
  };
  return extension(name, "envoy.extensions.common.matching.v3.ExtensionWithMatcher", {
    extension_config: extension(
      "llm.breaker.composite",
      "envoy.extensions.filters.http.composite.v3.Composite",
    ),
    xds_matcher: { matcher_list: { matchers: [{ predicate, on_match: { action } }] } },
  });
}

/** Counts tokens, keeps callers' limits, answers where no tier can. */
export function countFilter(serviceCluster: string): YamlMap {
  return extension("llm.breaker.count", "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor", {
    grpc_service: asks(serviceCluster, "count"),
    processing_mode: BUFFERED,
    request_attributes: [
      "filter_state['wasm.llm.breaker.canary']",
      "filter_state['wasm.llm.breaker.limits']",
      "filter_state['wasm.llm.breaker.reply']",
      "xds.route_metadata.filter_metadata['llm.breaker'].class",
    ],
    forward_rules: commented("TRAP: by default the service is sent every header.", shown(SHOWN_TO_COUNT)),
    metadata_options: { receiving_namespaces: { untyped: ["llm.breaker"] } },
    failure_mode_allow: commented("Without a count the request is no canary, and goes on.", true),
    message_timeout: commented("TRAP: 200 ms by default, too short for a large body.", "1s"),
  });
}

/** Keeps the last good answers. It looks on (observability mode), and only at requests of routes that switch it on. */
export function rememberFilter(serviceCluster: string): YamlMap {
  const { name, typed_config } = extension(
    "llm.breaker.remember",
    "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor",
    {
      grpc_service: asks(serviceCluster, "remember"),
      observability_mode: true,
      processing_mode: {
        request_header_mode: "SEND",
        request_body_mode: "STREAMED",
        response_header_mode: "SEND",
        response_body_mode: "STREAMED",
        request_trailer_mode: "SKIP",
        response_trailer_mode: "SEND",
      },
      forward_rules: shown(SHOWN_TO_COUNT),
      failure_mode_allow: true,
    },
  );
  return { name, disabled: true, typed_config };
}

/** Changes the body of what a backend is sent, by its cluster's metadata. */
export function rewriteFilter(serviceCluster: string): YamlMap {
  return extension("llm.breaker.rewrite", "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor", {
    grpc_service: asks(serviceCluster, "rewrite"),
    processing_mode: BUFFERED,
    allow_mode_override: true,
    request_attributes: ["xds.cluster_metadata", "filter_state['wasm.llm.breaker.degrade']"],
    forward_rules: shown(SHOWN_TO_ALL),
    failure_mode_allow: commented(
      "TRAP: failing closed is an empty 500 that is not retried. The guard behind it lets nothing pass that was not rewritten.",
      true,
    ),
    message_timeout: "1s",
  });
}

/** A key of our own. The file is one of Envoy's secret discovery: envoy/secrets/public-key.yaml is like it. */
export function credentialFilter({ header, prefix, secretFile, secretName }: PlannedCredential): YamlMap {
  const generic = typed("envoy.extensions.http.injected_credentials.generic.v3.Generic", {
    header: header === "authorization" ? undefined : header,
    header_value_prefix: prefix === "" ? undefined : prefix,
    credential: {
      name: secretName,
      sds_config: { path_config_source: { path: secretFile }, resource_api_version: "V3" },
    },
  });
  return extension(
    "envoy.filters.http.credential_injector",
    "envoy.extensions.filters.http.credential_injector.v3.CredentialInjector",
    {
      overwrite: commented("TRAP: false by default, and then an earlier tier's key goes to this one.", true),
      credential: { name: "envoy.http.injected_credentials.generic", typed_config: generic },
    },
  );
}
