import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { chat } from "./client.js";
import { type RunningEnvoy, startEnvoy } from "./envoy.js";
import { adminPort, type EnvoyConfig, onFreePorts, socketAddresses } from "./envoy-config.js";
import { startUpstream, type Upstream } from "./upstream.js";

const address = (port: number) => ({ socket_address: { address: "0.0.0.0", port_value: port } });

function plainConfig(h2c: boolean): EnvoyConfig {
  const http =
    "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
  const router = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";
  const options = "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  const routes = [{ match: { prefix: "/" }, route: { cluster: "model", timeout: "0s" } }];
  const manager = {
    "@type": http,
    stat_prefix: "in",
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes }] },
    http_filters: [{ name: "router", typed_config: { "@type": router } }],
  };
  const protocol = h2c ? { http2_protocol_options: {} } : { http_protocol_options: {} };
  const sink = { endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: 1 } } } };
  return {
    admin: { address: address(9901) },
    static_resources: {
      listeners: [
        { address: address(10000), filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }] },
      ],
      clusters: [
        {
          name: "model",
          type: "STATIC",
          typed_extension_protocol_options: {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
              "@type": options,
              explicit_http_config: protocol,
            },
          },
          load_assignment: {
            cluster_name: "model",
            endpoints: [
              { lb_endpoints: [{ endpoint: { address: address(9101) } }] },
              { priority: 1, lb_endpoints: [sink] },
            ],
          },
        },
      ],
    },
  };
}

for (const h2c of [false, true]) {
  const protocol = h2c ? "HTTP/2" : "HTTP/1.1";
  test(`a real Envoy on free ports proxies to the fake upstream over ${protocol}`, async () => {
    const upstream = await startUpstream({ h2c });
    let envoy: RunningEnvoy | undefined;
    try {
      envoy = await startEnvoy({ config: plainConfig(h2c), ports: { 9101: upstream.port } });
      const answer = await chat(envoy.url(10000), { stream: true });
      assert.equal(answer.status, 200);
      assert.equal(upstream.arrivals.length, 1);
      assert.equal(await envoy.stat("cluster.model.upstream_rq_total"), 1);
      upstream.mode = { kind: "cut", at: 5, how: "rst", gapMs: 10 };
      const broken = await chat(envoy.url(10000), { stream: true });
      assert.equal(broken.complete, false);
    } finally {
      await envoy?.stop();
      await upstream.stop();
    }
    assert.equal(existsSync(`/proc/${envoy?.pid}`), false);
  });
}

let config: EnvoyConfig;
let upstream: Upstream;

before(async () => {
  upstream = await startUpstream();
  config = plainConfig(false);
});

after(() => upstream.stop());

test("a config that Envoy refuses is reported with Envoy's own words", async () => {
  const patch = (broken: EnvoyConfig): void => {
    broken.static_resourcez = {};
  };
  await assert.rejects(startEnvoy({ config: plainConfig(false), ports: {}, patch }), /static_resourcez/);
});

test("moves each local port once, keeps the sink's, and honours the ports it is given", async () => {
  const moved = await onFreePorts(config, { 9101: upstream.port });
  assert.equal(moved.get(9101), upstream.port);
  assert.deepEqual([...moved.keys()].sort(), [10000, 9101, 9901]);
  const ports = socketAddresses(config).map((each) => each.port_value);
  assert.ok(ports.includes(1));
  assert.equal(adminPort(config), moved.get(9901));
  assert.ok(socketAddresses(config).every((each) => each.address === "127.0.0.1"));
});
