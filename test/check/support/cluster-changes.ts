import { type Case, MINIMAL } from "./change.js";

export const CLUSTER_CHANGES: readonly Case[] = [
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
    changes: [["llm.breaker: &gpu { backend: gpu }", "llm.breaker: &gpu { backend: gpus }"]],
  },
  {
    rule: "meter-told",
    in: MINIMAL,
    changes: [["value: *gpu }", "value: { host: a.example } }"]],
  },
  {
    rule: "meter-told",
    in: MINIMAL,
    changes: [["Struct, value: *gpu }", 'StringValue, value: \'{"backend":"gpu","host":"a.example"}\' }']],
  },
  {
    rule: "meter-told",
    changes: [["value: *public }", "value: { backend: public } }"]],
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
    rule: "watched-directory",
    in: "envoy/live-policy.yaml",
    changes: [
      [
        /^[\s\S]*$/,
        `resources:
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: llm
  filter_chains:
  - filters:
    - name: envoy.filters.network.http_connection_manager
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        stat_prefix: llm
        stream_idle_timeout: 900s
        local_reply_config: { mappers: [{}] }
        rds: { route_config_name: llm, config_source: { ads: {} } }
        http_filters:
        - name: llm.breaker.gate
          config_discovery:
            type_urls: [type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm]
            config_source: { path_config_source: { path: /etc/llm-breaker/live-policy.yaml } }
`,
      ],
    ],
  },
];
