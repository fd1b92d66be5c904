import { commented, type YamlMap } from "../yaml/value.js";
import { envoyGrpc, extension, typed } from "./types.js";

const FLAGS = ["UH", "UF", "UO", "NC", "NR", "UT", "URX", "UC", "UR", "LR", "UPE", "SI", "DPE", "OM", "DO"];

/** Bare 500s (a held answer over a limit), 413s, and those of a filter that trapped carry no flag. */
const BARE_OR_TRAPPED =
  "response.code_details == 'wasm_fail_stream' || ((response.code == 500 || response.code == 413) && " +
  "!response.code_details.startsWith('llm_breaker_'))";

/** Replies that Envoy makes itself become JSON; the breaker's own pass as they are. */
export const LOCAL_REPLIES: YamlMap = jsonReplies();

/** `only`: a condition, in CEL, of whose they are. */
export function jsonReplies(only?: string): YamlMap {
  const envoysOwn = {
    or_filter: {
      filters: [{ response_flag_filter: { flags: FLAGS } }, condition("bare_or_trapped", BARE_OR_TRAPPED)],
    },
  };
  const filter =
    only === undefined ? envoysOwn : { and_filter: { filters: [condition("only", only), envoysOwn] } };
  return {
    mappers: [
      {
        filter,
        headers_to_add: [
          { header: { key: "retry-after", value: "1" }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" },
        ],
        body_format_override: {
          json_format: {
            error: {
              message: "%LOCAL_REPLY_BODY%",
              type: "gateway_error",
              param: null,
              code: "%RESPONSE_CODE_DETAILS%",
            },
          },
        },
      },
    ],
  };
}

function condition(name: string, expression: string): YamlMap {
  const type = "envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter";
  return { extension_filter: extension(name, type, { expression }) };
}

export const LIMIT_HEADERS = ["limit", "remaining", "reset"].flatMap((what) =>
  ["tokens", "requests"].map((unit) => `x-ratelimit-${what}-${unit}`),
);

/** What is left of a caller's limits, as OpenAI tells it. A request without limits has none of these facts, and no header. */
export function limitHeaders(): YamlMap[] {
  return LIMIT_HEADERS.map((key) => ({
    header: { key, value: `%DYNAMIC_METADATA(llm.breaker:${key})%` },
    append_action: "OVERWRITE_IF_EXISTS_OR_ADD",
  }));
}

/** Tells the service what a request of a caller with limits has really used. */
export function usageLog(serviceCluster: string): YamlMap {
  const common = {
    log_name: "llm.breaker.usage",
    transport_api_version: "V3",
    buffer_flush_interval: "0.1s",
    filter_state_objects_to_log: ["wasm.llm.breaker.usage"],
    grpc_service: { envoy_grpc: envoyGrpc(serviceCluster) },
  };
  return {
    name: "llm.breaker.usage",
    filter: {
      metadata_filter: {
        matcher: { filter: "llm.breaker", path: [{ key: "reservation" }], value: { present_match: true } },
        match_if_key_not_found: commented("Requests without a reservation are not told of.", false),
      },
    },
    typed_config: typed("envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig", {
      common_config: common,
    }),
  };
}
