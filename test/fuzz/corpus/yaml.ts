// Files of settings and of Envoy, small, with what YAML can do.

export const SETTINGS: readonly string[] = [
  "listen: 127.0.0.1:9002\nbody: { maxBytes: 1048576 }\n",
  "control:\n  tokenFile: /etc/token\nwebhooks:\n  - url: https://example.com/hook\n    headersFile: /etc/h\n",
  'limits: {tokensPerMinute: 1000}\npeers: {name: a}\n"quoted\\u0041": &x [1, 0x10, 1e3, ~, .nan]\nother: *x\n',
  "a: |\n  text\n  more\nb: >-\n  folded\n  text\n? c\n: d\n...\n",
  "<<: &base {a: 1}\nb: {<<: *base}\n!!set {x, y}\n",
  '{"listen":"127.0.0.1:1","signals":{"engines":{}}}',
];

export const ENVOY_FILES: readonly string[] = [
  'static_resources:\n  listeners:\n  - name: l\n    filter_chains:\n    - filters:\n      - name: hcm\n        typed_config:\n          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager\n          route_config: {virtual_hosts: [{name: v, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: gpu, timeout: 0s}}]}]}\n          http_filters:\n          - name: llm.breaker.gate\n            typed_config: {config: {root_id: gate, configuration: {value: \'{"backends":{"gpu":{}},"chains":{"c":{"tiers":["gpu"]}}}\'}}}\n  clusters:\n  - name: gpu\n    connect_timeout: 1s\n    metadata: {filter_metadata: {llm.breaker: {backend: gpu}}}\n',
  'static_resources:\n  clusters:\n  - name: gpu\n    metadata: {filter_metadata: {llm.breaker: {backend: gpu}}}\n    typed_extension_protocol_options:\n      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:\n        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions\n        http_filters:\n        - name: llm.breaker.meter\n          typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm, config: {root_id: meter, configuration: {value: \'{"backend":"gpu"}\'}}}\n        - {name: codec}\n',
  "apiVersion: v1\nkind: List\nitems:\n- apiVersion: networking.istio.io/v1\n  kind: VirtualService\n  metadata: {name: a}\n  spec: {http: [{route: [{destination: {host: b}}], retries: {attempts: 3}}]}\n",
  "apiVersion: v1\nkind: ConfigMap\ndata:\n  envoy.yaml: |\n    static_resources: {clusters: [{name: a}]}\n---\nlisten: 127.0.0.1:1\n",
  'apiVersion: extensions.istio.io/v1alpha1\nkind: WasmPlugin\nspec: {url: "oci://x", pluginConfig: {backends: {}, chains: {}}}\n',
];

export const YAML_WORDS: readonly string[] = [
  ": ",
  "- ",
  "&a ",
  "*a",
  "<<: ",
  "? ",
  "!!binary ",
  "!!timestamp ",
  "!<tag:x> ",
  "|\n",
  ">-\n",
  "---\n",
  "...\n",
  "%YAML 1.1\n",
  "# c\n",
  "\n  ",
  "\t",
  "{a: ",
  "[a, ",
  "'",
  "''",
  "\\x",
  "static_resources:",
  "listeners:",
  "clusters:",
  "kind: List",
  "items:",
  "typed_config:",
  "retry_policy: ",
  "filter_metadata:",
];
