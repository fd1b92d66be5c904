// Every name that crosses a border: filter state, shared data, headers, properties. docs/configuration.md lists them.
import { Text } from "./host/text";

/** Filter state; Envoy shows it with `wasm.` in front. */
export const STATE_BACKEND = Text.of("llm.breaker.backend");
export const STATE_STEP = Text.of("llm.breaker.step");
export const STATE_REQUEST = Text.of("llm.breaker.request");
export const STATE_ORIGINAL = Text.of("llm.breaker.original");
export const STATE_BEFORE = Text.of("llm.breaker.before");
export const STATE_ANSWER = Text.of("llm.breaker.answer");
export const STATE_CANARY = Text.of("llm.breaker.canary");
export const STATE_DEGRADE = Text.of("llm.breaker.degrade");
export const STATE_USAGE = Text.of("llm.breaker.usage");
export const STATE_DIVERTED = Text.of("llm.breaker.diverted");
export const STATE_REPLY = Text.of("llm.breaker.reply");
export const STATE_LIMITS = Text.of("llm.breaker.limits");
/** For spans, where the policy has `tracing`. */
export const STATE_TIER = Text.of("llm.breaker.tier");
export const STATE_STATE = Text.of("llm.breaker.state");
export const STATE_PASSED_OVER = Text.of("llm.breaker.passed-over");
export const STEP_COUNT = Text.of("count");
export const STEP_REPLY = Text.of("reply");

/** The cluster that ends a request: its meter answers, and no backend is behind it. */
export const STOP = Text.of("llm.breaker.stop");

export const KEY_NONCE = Text.of("llm.breaker/nonce");
export const KEY_SERVICE = Text.of("llm.breaker/service");
export const KEY_PROCESS = Text.of("llm.breaker/process");
/** Followed by a slash and the policy's name. */
export const KEY_LEADER = Text.of("llm.breaker/leader");
export const KEY_SYNC = Text.of("llm.breaker/sync");

export const HEADER_PREFIX = Text.of("x-llm-breaker-");
export const HEADER_RETRY = Text.of("x-llm-breaker-retry");
export const HEADER_PROBE = Text.of("x-llm-breaker-probe");
export const HEADER_BACKEND = Text.of("x-llm-breaker-backend");
export const HEADER_ATTEMPTS = Text.of("x-llm-breaker-attempts");
export const HEADER_TRIED = Text.of("x-llm-breaker-tried");
export const HEADER_REASON = Text.of("x-llm-breaker-reason");
export const HEADER_REWRITTEN = Text.of("x-llm-breaker-rewritten");
export const HEADER_ADAPTED = Text.of("x-llm-breaker-adapted");

/** Asks an engine to tell of its load with its answer, and in which form; and what it tells. */
export const LOAD_FORMAT = Text.of("endpoint-load-metrics-format");
export const LOAD_METRICS = Text.of("endpoint-load-metrics");

export const METHOD = Text.of(":method");
export const PATH = Text.of(":path");
export const AUTHORITY = Text.of(":authority");
export const STATUS = Text.of(":status");
export const CONTENT_TYPE = Text.of("content-type");
export const CONTENT_LENGTH = Text.of("content-length");
export const CONTENT_ENCODING = Text.of("content-encoding");
export const ACCEPT_ENCODING = Text.of("accept-encoding");
export const RETRY_AFTER = Text.of("retry-after");
export const AUTHORIZATION = Text.of("authorization");
export const X_API_KEY = Text.of("x-api-key");
export const API_KEY = Text.of("api-key");
export const COOKIE = Text.of("cookie");
export const PROXY_AUTHORIZATION = Text.of("proxy-authorization");
export const GOOGLE_KEY = Text.of("x-goog-api-key");
export const GOOGLE_PROJECT = Text.of("x-goog-user-project");
export const AZURE_KEY = Text.of("ocp-apim-subscription-key");
export const AWS_TOKEN = Text.of("x-amz-security-token");
export const AUTH_TOKEN = Text.of("x-auth-token");
export const COMPLETIONS = Text.of("/completions");
export const CHAT_COMPLETIONS = Text.of("/chat/completions");
export const OPENAI_PREFIX = Text.of("openai-");
export const ENVOY_PREFIX = Text.of("x-envoy-");
export const RATE_LIMITED = Text.of("x-envoy-ratelimited");
export const PER_TRY_TIMEOUT = Text.of("x-envoy-upstream-rq-per-try-timeout-ms");

export const POST = Text.of("POST");
export const HEAD = Text.of("HEAD");
export const ONE = Text.of("1");
export const IDENTITY = Text.of("identity");
export const APPLICATION_JSON = Text.of("application/json");
export const HTML = Text.of("text/html");
export const EVENT_STREAM = Text.of("text/event-stream");

export const PROPERTY_ROOT_ID = Text.of("plugin_root_id");
export const PROPERTY_CHAIN = Text.path("xds/route_metadata/filter_metadata/llm.breaker/chain");
export const PROPERTY_CLASS = Text.path("xds/route_metadata/filter_metadata/llm.breaker/class");
export const PROPERTY_CLUSTER_METADATA = Text.path("xds/cluster_metadata/filter_metadata/llm.breaker");
export const PROPERTY_NODE_ID = Text.path("xds/node/id");
export const PROPERTY_CLUSTER_NAME = Text.path("xds/cluster_name");
export const PROPERTY_CANARY = Text.path("metadata/filter_metadata/llm.breaker/canary");
export const PROPERTY_EXACT = Text.path("metadata/filter_metadata/llm.breaker/exact");
export const PROPERTY_PROMPT_TOKENS = Text.path("metadata/filter_metadata/llm.breaker/promptTokens");
export const PROPERTY_MODEL = Text.path("metadata/filter_metadata/llm.breaker/model");
export const PROPERTY_CODE_DETAILS = Text.path("response/code_details");
export const PROPERTY_LOCAL_ADDRESS = Text.path("upstream/local_address");
export const PROPERTY_TRANSPORT_FAILURE = Text.path("upstream/transport_failure_reason");
export const PROPERTY_POOL_READY = Text.path("upstream/cx_pool_ready_duration");
