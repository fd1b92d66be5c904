import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { CliError } from "../../../extproc/cli-error.js";
import type { Choice } from "../../../extproc/render/into/choose.js";
import { type Merged, mergeInto } from "../../../extproc/render/into/into.js";
import { readPolicy } from "../../../extproc/render/policy-file.js";

const MANAGER =
  "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const ROUTER = `{name: envoy.filters.http.router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}`;
const CLUSTERS = `
  clusters:
  - {name: gpu, type: STATIC, load_assignment: {cluster_name: gpu, endpoints: []}}
  - {name: spare, type: STATIC, load_assignment: {cluster_name: spare, endpoints: []}}
`;
const POLICY = "backends: { gpu: , spare: }\nchains: { chat: { tiers: [gpu, spare] } }";

/** An Envoy of theirs with these routes. */
function theirs(routes: string, clusters = CLUSTERS, further = ""): string {
  return `static_resources:
  listeners:
  - name: in
    filter_chains:
    - filters:
      - name: hcm
        typed_config:
          "@type": ${MANAGER}
          ${further}
          http_filters: [${ROUTER}]
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
${routes}
${clusters}`;
}

const ONE = "              - {match: {prefix: /}, route: {cluster: gpu}}";
const TWO = `              - {name: chat, match: {prefix: /v1/chat}, route: {cluster: gpu}}
              - {name: rest, match: {prefix: /}, route: {cluster: gpu}}`;
const ANY: Choice = { routes: [], listener: undefined, chain: undefined };

function merge(text: string, policy = POLICY, choice: Partial<Choice> = {}): Merged {
  const plan = readPolicy(policy, "policy.yaml");
  const means = { wasmFolder: "/w", canChangeCluster: true };
  const merged = mergeInto(text, "envoy.yaml", plan, means, { ...ANY, ...choice });
  const again = mergeInto(merged.text, "envoy.yaml", plan, means, { ...ANY, ...choice });
  assert.equal(again.text, merged.text, "a second time changes nothing");
  assert.deepEqual(again.changes, []);
  return merged;
}

function faultOf(text: string, policy = POLICY, choice: Partial<Choice> = {}): string {
  try {
    merge(text, policy, choice);
  } catch (cause) {
    assert.ok(cause instanceof CliError, String(cause));
    return cause.message;
  }
  throw new Error("was merged");
}

const routesOf = (text: string) =>
  parse(text).static_resources.listeners[0].filter_chains[0].filters[0].typed_config.route_config
    .virtual_hosts[0].routes;
const clusterOf = (text: string, name: string) =>
  parse(text).static_resources.clusters.find((cluster: { name: string }) => cluster.name === name);
const filterNames = (cluster: Record<string, Record<string, Record<string, { name: string }[]>>>) =>
  Object.values(cluster.typed_extension_protocol_options ?? {})[0]?.http_filters?.map(({ name }) => name);

test("the route that is meant has to be clear", () => {
  assert.match(faultOf(theirs(TWO)), /several routes: name one with --route, of chat, rest/);
  assert.match(faultOf(theirs(TWO), POLICY, { routes: ["nope"] }), /no route nope: there are chat, rest/);
  assert.match(faultOf(theirs(ONE), POLICY, { listener: "out" }), /in a listener named out/);
  for (const route of ["chat", "/v1/chat"]) {
    const [chat, rest] = routesOf(merge(theirs(TWO), POLICY, { routes: [route] }).text);
    assert.equal(chat.route.cluster_specifier_plugin, "llm.breaker");
    assert.deepEqual(rest.route, { cluster: "gpu" });
  }
});

test("chains go to the routes of their prefixes, and --chain to those that are named", () => {
  const policy =
    "backends: { gpu: , spare: }\nchains: { chat: { tiers: [gpu, spare] }, code: { prefix: /v1/chat, tiers: [spare] } }\ndefaultChain: chat";
  const [code, rest] = routesOf(merge(theirs(TWO), policy).text);
  assert.equal(code.metadata.filter_metadata["llm.breaker"].chain, "code");
  assert.equal(rest.metadata.filter_metadata["llm.breaker"].chain, "chat");
  const named = routesOf(merge(theirs(TWO), policy, { routes: ["rest"], chain: "code" }).text);
  assert.equal(named[1].metadata.filter_metadata["llm.breaker"].chain, "code");
  assert.match(
    faultOf(theirs(TWO), policy, { chain: "nope" }),
    /--chain must be one of chat, code, got nope/,
  );
});

test("what can't go on beside the breaker is told with its line", () => {
  const weighted =
    "              - {match: {prefix: /}, route: {weighted_clusters: {clusters: [{name: gpu, weight: 1}]}}}";
  assert.match(faultOf(theirs(weighted)), /^envoy\.yaml:\d+ weighted_clusters can't go on/);
  assert.match(faultOf(theirs(ONE, "\n  clusters: []")), /no cluster gpu for backends.gpu/);
  assert.match(faultOf("a: 1"), /no static_resources/);
  assert.match(
    faultOf(theirs(ONE).replace("http_filters: [", "http_filters: [] #")),
    /no envoy.filters.http.router/,
  );
  const added =
    'backends: { gpu: { url: "http://10.0.0.1:80" }, spare: }\nchains: { chat: { tiers: [gpu, spare] } }';
  assert.match(faultOf(theirs(ONE), added), /there is a cluster gpu already: leave the url/);
});

test("their bulkheads, timeouts and retries' hosts stay; budgets and too small buffers don't", () => {
  const route = `              - match: {prefix: /}
                route:
                  cluster: gpu
                  timeout: 60s
                  retry_policy: {retry_on: 5xx, num_retries: 2, retry_host_predicate: [{name: previous_hosts}]}`;
  const clusters = `
  clusters:
  - name: gpu
    circuit_breakers: {thresholds: [{max_requests: 50, retry_budget: {}}]}
  - name: spare
    type: LOGICAL_DNS
`;
  const { text, notes } = merge(
    theirs(route, clusters, "stream_idle_timeout: 30s").replace(
      "- name: in",
      "- name: in\n    per_connection_buffer_limit_bytes: 32768",
    ),
  );
  const { timeout, retry_policy } = routesOf(text)[0].route;
  assert.equal(timeout, "60s");
  assert.equal(retry_policy.num_retries, 4);
  assert.equal(retry_policy.retry_on, "reset,connect-failure,refused-stream,retriable-headers");
  assert.deepEqual(retry_policy.retry_host_predicate, [{ name: "previous_hosts" }]);
  const [standard, high] = clusterOf(text, "gpu").circuit_breakers.thresholds;
  assert.deepEqual(standard, { max_requests: 50, max_retries: 100_000 });
  assert.equal(high.priority, "HIGH");
  assert.equal(parse(text).static_resources.listeners[0].per_connection_buffer_limit_bytes, 2_097_152);
  for (const told of [
    /stream_idle_timeout 30s/,
    /timeout 60s bounds/,
    /retry_budget goes/,
    /LOGICAL_DNS has no room/,
    /is raised/,
  ]) {
    assert.ok(
      notes.some((note) => told.test(note) && /^envoy\.yaml:\d+ /.test(note)),
      `${told} in ${notes.join("\n")}`,
    );
  }
});

test("upstream filters of theirs stay between the meter and the codec, protocols as they were", () => {
  const options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  const clusters = `
  clusters:
  - name: gpu
    typed_extension_protocol_options:
      ${options}:
        "@type": type.googleapis.com/${options}
        explicit_http_config: {http2_protocol_options: {max_concurrent_streams: 7}}
        http_filters:
        - {name: envoy.filters.http.credential_injector}
        - {name: envoy.filters.http.upstream_codec}
  - name: spare
    http2_protocol_options: {}
`;
  const { text } = merge(theirs(ONE, clusters));
  const gpu = clusterOf(text, "gpu");
  assert.deepEqual(filterNames(gpu), [
    "llm.breaker.meter",
    "envoy.filters.http.credential_injector",
    "envoy.filters.http.upstream_codec",
  ]);
  assert.equal(
    gpu.typed_extension_protocol_options[options].explicit_http_config.http2_protocol_options
      .max_concurrent_streams,
    7,
  );
  assert.equal(gpu.metadata.filter_metadata["llm.breaker"].credentials, "own");
  const spare = clusterOf(text, "spare").typed_extension_protocol_options[options];
  assert.deepEqual(spare.explicit_http_config, { http2_protocol_options: {} });
});

test("the codec is known by its type, and a sink goes wherever endpoints stand", () => {
  const options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  const clusters = `
  clusters:
  - name: gpu
    cluster_type: {name: dns, typed_config: {"@type": type.googleapis.com/envoy.extensions.clusters.dns.v3.DnsCluster}}
    common_lb_config: {locality_weighted_lb_config: {}}
    typed_extension_protocol_options:
      ${options}:
        http_filters:
        - {name: codec, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec}}
  - name: spare
    load_assignment: {cluster_name: spare, policy: {overprovisioning_factor: 140}, endpoints: []}
`;
  const { text, notes } = merge(theirs(ONE, clusters));
  const gpu = clusterOf(text, "gpu");
  assert.deepEqual(filterNames(gpu), ["llm.breaker.meter", "codec"]);
  assert.equal(gpu.load_assignment.endpoints[0].priority, 1);
  assert.equal(gpu.load_assignment.endpoints[0].load_balancing_weight, 1);
  assert.deepEqual(clusterOf(text, "spare").load_assignment.policy, { overprovisioning_factor: 140 });
  assert.match(notes.join("\n"), /^envoy\.yaml:\d+ TRAP: overprovisioning_factor 140 is left/m);
});

test("a node that secrets need is made whole, and what is said of it stays", () => {
  const policy =
    'backends: { gpu: , key: { url: "http://10.0.0.1:80", keyFile: /k.yaml } }\nchains: { chat: { tiers: [gpu, key] } }';
  assert.deepEqual(parse(merge(theirs(ONE), policy).text).node, { id: "llm", cluster: "llm-breaker" });
  const named = parse(merge(`node: {id: edge}\n${theirs(ONE)}`, policy).text);
  assert.deepEqual(named.node, { id: "edge", cluster: "llm-breaker" });
  assert.equal(parse(merge(theirs(ONE)).text).node, undefined);
});

test("a cluster that shares its options by an alias, and is no backend, gets no filter", () => {
  const options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  const clusters = `
  clusters:
  - name: gpu
    typed_extension_protocol_options: &h1
      ${options}: {"@type": type.googleapis.com/${options}, explicit_http_config: {http_protocol_options: {}}}
  - name: spare
    typed_extension_protocol_options: *h1
  - name: other
    typed_extension_protocol_options: *h1
`;
  const { text } = merge(theirs(ONE, clusters));
  assert.equal(filterNames(clusterOf(text, "gpu"))?.[0], "llm.breaker.meter");
  assert.equal(filterNames(clusterOf(text, "spare"))?.[0], "llm.breaker.meter");
  assert.equal(filterNames(clusterOf(text, "other")), undefined);
});

test("files in camelCase, and in JSON, are changed in their own way", () => {
  const camel = theirs(ONE).replaceAll(/_([a-z])(?=[a-z_]*:)/g, (_, letter: string) => letter.toUpperCase());
  const { text } = merge(camel);
  assert.equal(
    parse(text).staticResources.listeners[0].filterChains[0].filters[0].typedConfig.httpFilters.length,
    2,
  );
  assert.equal(parse(text).static_resources, undefined);
  const json = JSON.stringify(parse(theirs(ONE)), undefined, 2);
  assert.equal(
    routesOf(JSON.stringify(JSON.parse(merge(json).text)))[0].route.cluster_specifier_plugin,
    "llm.breaker",
  );
});

test("lines that are put in end as the file's do", () => {
  const plain = theirs(ONE.replace("cluster: gpu", "cluster: gpu, retry_policy: {}"));
  const { text } = merge(plain.replaceAll("\n", "\r\n"));
  assert.equal(text.replaceAll("\r\n", "\n"), merge(plain).text);
  assert.doesNotMatch(text.replaceAll("\r\n", ""), /[\r\n]/);
});

test("an anchor that would have to go while an alias needs it is told, not thrown", () => {
  const routes = "              - {match: {prefix: /}, route: {cluster: &c gpu}}\n";
  const clusters = CLUSTERS.replace("name: gpu, type", "name: *c, type");
  assert.match(faultOf(theirs(routes, clusters)), /^envoy\.yaml is written in a way that can't be changed/);
});

test("the service is brought along where the policy needs it, with an id for this Envoy", () => {
  const policy =
    "name: chat\nbackends: { gpu: , spare: { model: m } }\nchains: { chat: { tiers: [gpu, spare] } }";
  const { text } = merge(theirs(ONE), policy);
  assert.deepEqual(filterNames(clusterOf(text, "spare")), [
    "llm.breaker.meter",
    "llm.breaker.rewrite",
    "llm.breaker.guard",
    "envoy.filters.http.upstream_codec",
  ]);
  assert.ok(clusterOf(text, "llm-breaker-service") && clusterOf(text, "llm-breaker-service-http"));
  assert.equal(parse(text).node.id, "chat");
});

test("another policy later is put in the place of the first", () => {
  const { text } = merge(theirs(ONE), POLICY.replace("spare: }", "spare: { model: m } }"));
  const other =
    "backends: { gpu: }\nchains: { chat: { tiers: [gpu], maxAttempts: 2 } }\nbreaker: { failureRateThreshold: 20 }";
  const { text: again, notes } = merge(text, other);
  assert.doesNotMatch(again, /llm\.breaker\.(count|admit)|The service, where/);
  assert.match(notes.join("\n"), /^envoy\.yaml:\d+ cluster spare is no backend of the policy any more/m);
  assert.match(again, /"failureRateThreshold": 20/);
  assert.doesNotMatch(again, /"spare"/);
  assert.equal(routesOf(again)[0].route.retry_policy.num_retries, 2);
});
