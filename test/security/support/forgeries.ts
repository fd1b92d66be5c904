/** What somebody may try to say in the name of the breaker, or of Envoy. */
export const ORDERS: Readonly<Record<string, string>> = {
  "x-llm-breaker-retry": "1",
  "x-llm-breaker-probe": "0123456789abcdef0123456789abcdef",
  "x-llm-breaker-backend": "public",
  "x-llm-breaker-attempts": "0",
  "x-llm-breaker-tried": "gpu=500",
  "x-llm-breaker-reason": "exhausted",
  "x-llm-breaker-rewritten": "1",
  "x-llm-breaker-adapted": "1",
  "x-llm-breaker-canary": "1",
  "x-llm-breaker-role": "count",
  "x-llm-breaker-step": "reply",
  "x-llm-breaker-state": "CLOSED",
  "x-llm-breaker-": "1",
  "x-envoy-retry-on": "5xx,reset,retriable-4xx,gateway-error",
  "x-envoy-retry-grpc-on": "cancelled,internal",
  "x-envoy-max-retries": "9",
  "x-envoy-retriable-status-codes": "200",
  "x-envoy-retriable-header-names": "content-type",
  "x-envoy-hedge-on-per-try-timeout": "true",
  "x-envoy-upstream-rq-timeout-ms": "1",
  "x-envoy-upstream-rq-per-try-timeout-ms": "1",
  "x-envoy-upstream-stream-duration-ms": "1",
  "x-envoy-upstream-rq-timeout-alt-response": "1",
  "x-envoy-upstream-alt-stat-name": "mine",
  "x-envoy-decorator-operation": "mine",
  "x-envoy-original-path": "/mine",
  "x-envoy-original-dst-host": "127.0.0.1:1",
  "x-envoy-attempt-count": "7",
  "x-envoy-ratelimited": "true",
  "x-envoy-is-timeout-retry": "true",
  "x-envoy-immediate-health-check-fail": "true",
  "endpoint-load-metrics-format": "TEXT",
};

/** Names that stand for something inside, and nothing in a request. */
const INNER: Readonly<Record<string, string>> = {
  "llm.breaker.backend": "public",
  "wasm.llm.breaker.backend": "public",
  "wasm.llm.breaker.step": "count",
  "llm.breaker.canary": "1",
  "filter_state-llm.breaker.backend": "public",
  "x-backend": "public",
  "x-cluster": "public",
  "grpc-timeout": "1m",
};

export const MARKS: readonly (readonly [name: string, value: string])[] = Object.entries({
  ...ORDERS,
  ...INNER,
});

/** A request's parts that a mark may stand in; a line is a header as it is on the wire. */
export interface Forged {
  readonly lines?: readonly string[];
  readonly query?: string;
  readonly field?: Readonly<Record<string, unknown>>;
  readonly trailers?: readonly string[];
}

export type Carrier = (name: string, value: string) => Forged;

/** Each way in which a caller over HTTP/1.1 can say it. */
export const CARRIERS: Readonly<Record<string, Carrier>> = {
  "a header": (name, value) => ({ lines: [`${name}: ${value}`] }),
  "a header in capitals": (name, value) => ({ lines: [`${name.toUpperCase()}: ${value}`] }),
  "a header in odd case": (name, value) => ({
    lines: [`${[...name].map((each, at) => (at % 2 ? each.toUpperCase() : each)).join("")}: ${value}`],
  }),
  "a header twice": (name, value) => ({ lines: [`${name}: ${value}`, `X-Between: 1`, `${name}: ${value}`] }),
  "a header with white space about its value": (name, value) => ({ lines: [`${name}: \t ${value} \t`] }),
  "a header with underscores": (name, value) => ({ lines: [`${name.replaceAll("-", "_")}: ${value}`] }),
  "a header that Connection names": (name, value) => ({
    lines: [`${name}: ${value}`, `connection: ${name}`],
  }),
  "a header that Connection and TE name": (name, value) => ({
    lines: [`${name}: ${value}`, `te: trailers, ${name}`, `connection: te, ${name}`],
  }),
  "Via, Forwarded and baggage": (name, value) => ({
    lines: [`via: 1.1 ${name}`, `forwarded: for=1;${name}=${value.split(",")[0]}`, `baggage: ${name}=1`],
  }),
  "a header after Expect": (name, value) => ({ lines: ["expect: 100-continue", `${name}: ${value}`] }),
  "a trailer": (name, value) => ({ trailers: [`${name}: ${value}`] }),
  "a query": (name, value) => ({ query: `${name}=${encodeURIComponent(value)}` }),
  "a cookie": (name, value) => ({ lines: [`cookie: ${name}=${value.split(",")[0]}`] }),
  "a field of the body": (name, value) => ({ field: { [name]: value, metadata: { [name]: value } } }),
  "metadata in the body": (name, value) => ({
    field: {
      "llm.breaker": { canary: true, backend: "public", [name]: value },
      filter_metadata: { "llm.breaker": { canary: true } },
    },
  }),
};
