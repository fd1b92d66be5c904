import type { Case } from "./change.js";

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

export const MESH_CHANGES: readonly Case[] = [
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
