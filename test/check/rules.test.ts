import assert from "node:assert/strict";
import { test } from "node:test";
import type { CheckOptions } from "../../extproc/check/check.js";
import { RULES } from "../../extproc/check/rules/all.js";
import { BROKEN } from "./support/broken.js";
import { replaced, rulesFound, shipped } from "./support/found.js";

type Change = readonly [from: string | RegExp, to: string];

interface Case {
  readonly rule: string;
  readonly in?: string;
  readonly changes: readonly Change[];
  /** What the same change brings besides. */
  readonly also?: readonly string[];
  readonly options?: CheckOptions;
  /** Another file of the set-up. */
  readonly beside?: string;
}

const FULL = "envoy/full.yaml";
const MINIMAL = "envoy/minimal.yaml";
const ISTIO = "test/check/broken/istio-sidecar.yaml";
const GATEWAY = "test/check/broken/istio-gateway.yaml";
/** What is found in that file as it is. */
const ISTIO_HAS = [
  "max-retries",
  "merge-loses-protocol",
  "mesh-retries",
  "outlier-ejection-long",
  "retry-on-5xx",
  "route-timeout",
  "sidecar-egress",
];
const GATEWAY_HAS = ["gate-behind-alpn", "proxy-version-guard"];

/** One change of a file that is well, for each rule that no file in `broken` hits. */
const CASES: readonly Case[] = [
  { rule: "route-class", changes: [["class: batch", "class: batsch"]], beside: "envoy/service.yaml" },
  { rule: "unreadable", changes: [["- name: llm\n", "- name: llm\n  - : :\n"]] },
  {
    rule: "policy-missing",
    changes: [[/configuration:\n +"@type": .*StringValue[\s\S]*?\n\n {10}# 2\./, "\n          # 2."]],
    also: [],
  },
  {
    rule: "policy-names",
    changes: [],
    options: {
      policy: {
        name: "other.json",
        text: '{"name":"full","backends":{"gpu":{}},"chains":{"chat":{"tiers":["gpu"]}}}',
      },
    },
    also: ["service-unnamed"],
  },
  { rule: "attempts-below-tiers", changes: [['"maxAttempts": 4', '"maxAttempts": 3']] },
  {
    rule: "limits-never-settled",
    changes: [
      ['"maxAttempts": 4,', '"maxAttempts": 4, "limits": true,'],
      ["filter_state_objects_to_log: [wasm.llm.breaker.usage]", "filter_state_objects_to_log: [wasm.other]"],
    ],
  },
  { rule: "cached-without-remember", changes: [['"action": "reply", "status": 503', '"action": "cached"']] },
  { rule: "per-try-timeout-differs", changes: [["per_try_timeout: 120s", "per_try_timeout: 60s"]] },
  {
    rule: "per-try-idle-timeout",
    changes: [["per_try_timeout: 120s", "per_try_timeout: 120s\n                per_try_idle_timeout: 5s"]],
  },
  {
    rule: "max-stream-duration",
    changes: [
      [
        "stream_idle_timeout: 900s",
        "stream_idle_timeout: 900s\n          common_http_protocol_options: { max_stream_duration: 60s }",
      ],
    ],
  },
  { rule: "retry-on-missing", changes: [["retry_on: reset,connect-failure,refused-stream,", "retry_on: "]] },
  { rule: "refresh-unknown", changes: [], options: { envoy: [1, 37] } },
  {
    rule: "retry-header-shown",
    changes: [["response_headers_to_remove: [x-llm-breaker-retry]", "response_headers_to_remove: [server]"]],
  },
  { rule: "retry-after-back-off", changes: [["max_interval: 3s", "max_interval: 60s"]] },
  {
    rule: "route-chain-unknown",
    in: MINIMAL,
    changes: [
      [
        "match: { prefix: / }",
        "match: { prefix: / }\n                metadata: { filter_metadata: { llm.breaker: { chain: chats } } }",
      ],
    ],
  },
  {
    rule: "route-not-by-matcher",
    changes: [["priority: HIGH, cluster_specifier_plugin: llm.breaker", "priority: HIGH, cluster: gpu"]],
  },
  {
    rule: "plugin-unknown",
    changes: [
      [
        "priority: HIGH, cluster_specifier_plugin: llm.breaker",
        "priority: HIGH, cluster_specifier_plugin: llm.braker",
      ],
    ],
  },
  { rule: "matcher-state", changes: [["key: wasm.llm.breaker.backend", "key: llm.breaker.backend"]] },
  {
    rule: "matcher-backend-extra",
    changes: [
      [
        "                          small: { action: { name: small,",
        "                          smal: { action: { name: small,",
      ],
    ],
    also: ["matcher-backend-missing"],
  },
  { rule: "matcher-cluster-differs", changes: [[/(small: .*)cluster: small/, "$1cluster: gpu"]] },
  {
    rule: "cluster-unknown",
    changes: [["  - name: llm-breaker-service-http", "  - name: llm-breaker-http"]],
  },
  {
    rule: "stop-cluster-missing",
    changes: [[/ {2}- name: llm.breaker.stop\n/, "  - name: llm.breaker.stopp\n"]],
    also: ["backend-unknown", "cluster-buffer-limit", "cluster-unknown", "sink-takes-traffic"],
  },
  {
    rule: "hold-over-body-limit",
    changes: [["request_body_buffer_limit: 16777216", "request_body_buffer_limit: 131072"]],
  },
  {
    rule: "cluster-buffer-limit",
    in: MINIMAL,
    changes: [["    per_connection_buffer_limit_bytes: 32768\n", ""]],
  },
  {
    rule: "gate-missing",
    changes: [
      ["- name: llm.breaker.gate\n", "- name: corp.gate\n"],
      ["root_id: gate", "root_id: corp"],
    ],
    also: [],
  },
  {
    rule: "gate-order",
    changes: [
      [
        "          # 1. Admits",
        "          - { name: llm.breaker.remember, disabled: true }\n          # 1. Admits",
      ],
    ],
  },
  { rule: "admit-missing", changes: [[/ {10}# 3\.[\s\S]*?(?= {10}# 4\.)/, ""]] },
  {
    rule: "gate-disabled",
    in: MINIMAL,
    changes: [["- name: llm.breaker.gate\n", "- name: llm.breaker.gate\n            disabled: true\n"]],
  },
  {
    rule: "failure-policy",
    in: MINIMAL,
    changes: [["failure_policy: FAIL_RELOAD", "failure_policy: FAIL_OPEN"]],
  },
  { rule: "reload-back-off", in: MINIMAL, changes: [[/\n +reload_config: .*/, ""]] },
  {
    rule: "meter-shares-vm",
    in: MINIMAL,
    changes: [["build/llm-breaker-meter.wasm", "build/llm-breaker-gate.wasm"]],
  },
  { rule: "root-id", in: MINIMAL, changes: [["root_id: meter", "root_id: metre"]] },
  {
    rule: "wasm-remote",
    in: MINIMAL,
    changes: [
      [
        "code: { local: { filename: build/llm-breaker-gate.wasm } }",
        "code: { remote: { http_uri: { uri: https://a.example/llm-breaker-gate.wasm, cluster: a, timeout: 5s }, sha256: ab } }",
      ],
    ],
  },
  {
    rule: "connections-below-requests",
    in: MINIMAL,
    changes: [["max_connections: 100000", "max_connections: 100"]],
  },
  { rule: "bulkhead-above-envoys", changes: [['"gpu":    {', '"gpu":    { "maxConcurrentCalls": 64,']] },
  {
    rule: "sink-takes-traffic",
    in: MINIMAL,
    changes: [["      policy: { overprovisioning_factor: 100000 }\n", ""]],
  },
  { rule: "logical-dns-sink", in: MINIMAL, changes: [["type: STATIC", "type: LOGICAL_DNS"]] },
  {
    rule: "panic-threshold",
    in: MINIMAL,
    changes: [
      [
        "connect_timeout: 1s",
        "connect_timeout: 1s\n    common_lb_config: { healthy_panic_threshold: { value: 0 } }",
      ],
    ],
  },
  {
    rule: "backend-unknown",
    in: MINIMAL,
    changes: [["llm.breaker: { backend: gpu }", "llm.breaker: { backend: gpus }"]],
  },
  {
    rule: "probe-cluster",
    in: MINIMAL,
    changes: [
      ["  - name: gpu\n", "  - name: vllm\n"],
      ["route: { cluster: gpu", "route: { cluster: vllm"],
    ],
    also: ["cluster-unknown"],
  },
  { rule: "metadata-value", changes: [['maxOutputTokens: "1024"', 'maxOutputTokens: "many"']] },
  { rule: "rewrite-missing", changes: [["        - *rewrite\n        - *guard\n", ""]] },
  { rule: "guard-missing", changes: [["        - *rewrite\n        - *guard\n", "        - *rewrite\n"]] },
  {
    rule: "rewrites-body",
    changes: [
      ['"small":  { "contextWindow": 8192, "rewritesBody": true }', '"small":  { "contextWindow": 8192 }'],
    ],
  },
  {
    rule: "load-metrics-lb",
    in: MINIMAL,
    changes: [
      ["backend: gpu }", "backend: gpu, loadMetrics: TEXT }"],
      [
        "connect_timeout: 1s",
        "connect_timeout: 1s\n    load_balancing_policy: { policies: [{ typed_extension_config: { name: envoy.load_balancing_policies.client_side_weighted_round_robin } }] }",
      ],
    ],
  },
  { rule: "credentials-own", changes: [["credentials: own, ", ""]] },
  {
    rule: "credentials-without-key",
    in: MINIMAL,
    changes: [["backend: gpu }", "backend: gpu, credentials: own }"]],
  },
  {
    rule: "host-not-rewritten",
    changes: [
      ["host: api.example.com, ", ""],
      [
        "  - name: public\n    type: STATIC\n",
        '  - name: public\n    type: STATIC\n    transport_socket: { name: tls, typed_config: { "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, sni: api.example.com, common_tls_context: { validation_context: { trusted_ca: { filename: /ca.crt } } } } }\n',
      ],
    ],
  },
  { rule: "tls-missing", in: MINIMAL, changes: [["port_value: 9101", "port_value: 443"]] },
  {
    rule: "tls-unverified",
    in: MINIMAL,
    changes: [
      ["backend: gpu }", "backend: gpu, host: a.example }"],
      [
        "connect_timeout: 1s",
        'connect_timeout: 1s\n    transport_socket: { name: tls, typed_config: { "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, sni: a.example } }',
      ],
    ],
  },
  {
    rule: "grpc-timeout",
    changes: [
      [
        "envoy_grpc: { cluster_name: llm-breaker-service }\n              initial_metadata: [{ key: x-llm-breaker-role, value: rewrite }]",
        "envoy_grpc: { cluster_name: llm-breaker-service }\n              timeout: 1s\n              initial_metadata: [{ key: x-llm-breaker-role, value: rewrite }]",
      ],
    ],
  },
  { rule: "service-role", changes: [["value: rewrite }]", "value: rewriter }]"]] },
  { rule: "body-mode", changes: [["request_body_mode: BUFFERED", "request_body_mode: BUFFERED_PARTIAL"]] },
  { rule: "receiving-namespaces", changes: [["untyped: [llm.breaker]", "untyped: [llm]"]] },
  {
    rule: "request-attributes",
    changes: [['request_attributes: ["xds.cluster_metadata", ', "request_attributes: ["]],
  },
  {
    rule: "mode-override",
    changes: [
      ["            allow_mode_override: true\n", ""],
      ["backend: small,", "backend: small, answerModel: caller,"],
    ],
  },
  {
    rule: "ext-proc-name",
    changes: [["          name: llm.breaker.rewrite\n", "          name: envoy.filters.http.ext_proc\n"]],
  },
  {
    rule: "count-always",
    changes: [
      [
        "          # 3. Turns",
        `          - name: llm.breaker.recount
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor
              grpc_service: { envoy_grpc: { cluster_name: llm-breaker-service }, initial_metadata: [{ key: x-llm-breaker-role, value: count }] }
              processing_mode: *buffered
              request_attributes: ["filter_state['wasm.llm.breaker.canary']"]
              forward_rules: *asked_headers
              metadata_options: { receiving_namespaces: { untyped: [llm.breaker] } }
              failure_mode_allow: true
              message_timeout: 1s
          # 3. Turns`,
      ],
    ],
  },
  { rule: "count-missing", in: MINIMAL, changes: [['"canary": { "size": "estimate" },', ""]] },
  { rule: "service-unnamed", changes: [['"service": { "cluster": "llm-breaker-service-http" },', ""]] },
  {
    rule: "signals-without-source",
    in: MINIMAL,
    changes: [['"canary": {', '"kvCacheUseThreshold": 80, "canary": {']],
  },
  { rule: "service-limits", changes: [["    circuit_breakers: *wide\n", ""]] },
  {
    rule: "service-many-hosts",
    changes: [
      [
        "        - endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: 9003 } } }",
        "        - endpoint: { address: { socket_address: { address: 10.0.0.1, port_value: 9003 } } }\n        - endpoint: { address: { socket_address: { address: 10.0.0.2, port_value: 9003 } } }",
      ],
    ],
  },
  {
    rule: "log-shows-keys",
    changes: [
      [
        "filter_state_objects_to_log: [wasm.llm.breaker.usage]",
        "filter_state_objects_to_log: [wasm.llm.breaker.usage, wasm.llm.breaker.original]",
      ],
    ],
  },
  { rule: "node-id", changes: [["node: { id: llm-breaker, cluster: llm-breaker }\n", ""]] },
  {
    rule: "retries-before-1.39",
    in: GATEWAY,
    changes: [],
    options: { istio: [1, 30] },
    also: [...GATEWAY_HAS, "refresh-unknown"],
  },
  {
    rule: "matcher-unknown",
    in: GATEWAY,
    changes: [],
    options: { istio: [1, 29] },
    also: [...GATEWAY_HAS, "refresh-unknown", "retries-before-1.39"],
  },
  { rule: "istio-too-old", in: ISTIO, changes: [], options: { istio: [1, 26] }, also: ISTIO_HAS },
  {
    rule: "merge-loses-destination-rule",
    in: ISTIO,
    changes: [["http: { maxRetries: 3 }", "http: { maxRetries: 3, idleTimeout: 30s }"]],
    also: ISTIO_HAS,
  },
  {
    rule: "anchor-translated",
    in: ISTIO,
    changes: [
      [
        "subFilter: { name: istio.alpn }",
        "subFilter: { name: extensions.istio.io/trafficextension/llm.gate }",
      ],
    ],
    also: ISTIO_HAS,
  },
  {
    rule: "gate-behind-picker",
    in: GATEWAY,
    changes: [
      [
        /$/,
        "\n---\napiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\nmetadata: { name: pool }\nspec: { targetPorts: [ { number: 8000 } ] }\n",
      ],
    ],
    also: GATEWAY_HAS,
  },
  {
    rule: "pool-in-flight",
    in: ISTIO,
    changes: [
      ["outbound|8000||tgi.llm.svc.cluster.local", "outbound|54321||pool-ip-0a1b2c3d.llm.svc.cluster.local"],
    ],
    also: [...ISTIO_HAS, "probe-cluster"],
  },
  {
    rule: "empty-filter-config",
    in: ISTIO,
    changes: [
      [
        "value: { metadata: { filter_metadata: { llm.breaker: { chain: chat } } } }",
        'value: { typed_per_filter_config: { llm.breaker.gate: { "@type": type.googleapis.com/envoy.config.route.v3.FilterConfig, config: {} } }, metadata: { filter_metadata: { llm.breaker: { chain: chat } } } }',
      ],
    ],
    also: ISTIO_HAS,
  },
  {
    rule: "waypoint",
    in: ISTIO,
    changes: [["context: SIDECAR_OUTBOUND", "context: WAYPOINT"]],
    also: ISTIO_HAS,
  },
  {
    rule: "istio-route-name",
    in: ISTIO,
    changes: [["vhost: { route: { name: chat } }", "vhost: { route: { name: chats } }"]],
    also: ISTIO_HAS,
  },
  {
    rule: "referenced-services",
    in: GATEWAY,
    changes: [[/\n +annotations:\n.*referenced-services: .*/, ""]],
    also: GATEWAY_HAS,
  },
  {
    rule: "mixed-protocols",
    in: ISTIO,
    changes: [
      [
        "            http_filters:\n",
        "            explicit_http_config: { http_protocol_options: {} }\n            http_filters:\n",
      ],
      [
        "{ envoy.extensions.upstreams.http.v3.HttpProtocolOptions: *options }",
        '{ o: { "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, explicit_http_config: { http2_protocol_options: {} } } }',
      ],
    ],
    also: [...ISTIO_HAS, "meter-missing"],
  },
  {
    rule: "wasmplugin-position",
    in: "test/check/broken/wasm-plugin.yaml",
    changes: [["pluginName: gate", "pluginName: meter"]],
    also: ["wasmplugin-inbound", "wasmplugin-pull", "wasmplugin-vm"],
  },
];

test("each rule is met by a test", () => {
  const met = new Set([...CASES.map(({ rule }) => rule), ...Object.values(BROKEN).flat()]);
  assert.deepEqual(
    RULES.map(({ id }) => id).filter((id) => !met.has(id)),
    [],
  );
});

for (const { rule, in: name = FULL, changes, also = [], options, beside } of CASES) {
  test(`${rule} is found in a changed ${name}`, () => {
    const { text } = shipped(name);
    const changed = changes.reduce((present, [from, to]) => replaced(present, from, to), text);
    assert.deepEqual(
      rulesFound([{ name, text: changed }, ...(beside ? [shipped(beside)] : [])], options),
      [rule, ...also].sort(),
    );
  });
}
