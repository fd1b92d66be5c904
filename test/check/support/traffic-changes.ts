import { type Case, MINIMAL } from "./change.js";

/** One change of a file that is well, for each rule that no file in `broken` hits. */
export const TRAFFIC_CHANGES: readonly Case[] = [
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
    changes: [
      ['"chain": "by-model",', ""],
      [
        "- name: models\n                match: { prefix: / }",
        "- name: models\n                match: { prefix: / }\n                metadata: { filter_metadata: { llm.breaker: { chain: by-model } } }",
      ],
      ["llm.breaker: { class: batch }", "llm.breaker: { chain: chats, class: batch }"],
    ],
  },
  {
    rule: "route-chain-overruled",
    changes: [["llm.breaker: { class: batch }", "llm.breaker: { chain: chat, class: batch }"]],
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
];
