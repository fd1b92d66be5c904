import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { rawCall, sendAndLeave } from "../e2e/support/raw-call.js";
import { type Rig, startRig } from "../e2e/support/rig.js";
import { connectionManager } from "../e2e/support/shipped-config.js";
import { chat, send } from "../support/client.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    patch: (config) => {
      const permission = { header: { name: "x-refuse-me", present_match: true } };
      const rules = {
        action: "DENY",
        policies: { marked: { permissions: [permission], principals: [{ any: true }] } },
      };
      const type = "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC";
      const manager = connectionManager(config);
      manager.http_filters.unshift({
        name: "envoy.filters.http.rbac",
        typed_config: { "@type": type, rules },
      });
      manager.route_config.virtual_hosts[0]?.routes.unshift({
        match: { path: "/direct" },
        direct_response: { status: 200, body: { inline_string: "direct" } },
      });
    },
  });
});

after(() => rig.stop());

const variants: Record<string, () => Promise<unknown>> = {
  "a filter ahead of ours denies": async () =>
    assert.equal((await chat(rig.url, { headers: { "x-refuse-me": "1" } })).status, 403),
  "a malformed request": async () =>
    assert.match(await rawCall(rig.url, "GET / HTTP/9.9\r\n\r\n"), /^HTTP\/1.1 4/),
  "a request without a host": async () =>
    assert.match(await rawCall(rig.url, "GET / HTTP/1.1\r\n\r\n"), /^HTTP\/1.1 400/),
  "a header block over the limit": async () =>
    assert.equal((await send(rig.url, { headers: { "x-big": "x".repeat(70_000) } })).status, 431),
  "a route that answers by itself": async () =>
    assert.equal((await send(`${rig.url}/direct`)).text, "direct"),
  "a client that leaves after half a header": () => sendAndLeave(rig.url, "POST /v1/chat/com", 5),
  "a client that leaves after its headers": () =>
    sendAndLeave(rig.url, "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n", 5),
};

test("WASM-1: ends of streams whose request was never seen change nothing and trap nothing", async () => {
  const service = rig.service?.pid;
  for (const variant of Object.values(variants)) await Promise.all(Array.from({ length: 100 }, variant));
  const counters = await rig.envoy.stats("^wasmcustom\\.llm_breaker\\.");
  for (const [name, value] of counters) {
    if (!/permitted|refused/.test(name)) assert.equal(value, 0, name);
  }
  assert.equal(rig.gpu.arrivals.length, 0);
  for (const [name, value] of await rig.envoy.stats("vm_reload|runtime_error|vm_failure|fail_")) {
    if (name.startsWith("wasm")) assert.equal(value, 0, name);
  }
  assert.equal(rig.service?.pid, service);
  assert.equal(rig.service?.exit, undefined);
  for (let call = 0; call < 20; call++) assert.equal((await chat(rig.url)).status, 200);
  assert.equal(rig.gpu.arrivals.length, 20);
});
