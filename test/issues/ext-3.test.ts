import assert from "node:assert/strict";
import { after, test } from "node:test";
import { neverOpen, type Rig, startRig } from "../e2e/support/rig.js";
import {
  addBackend,
  addRoute,
  chainOf,
  clusterOf,
  protocolOf,
  type ShippedConfig,
} from "../e2e/support/shipped-config.js";
import { send } from "../support/client.js";
import { startUpstream } from "../support/upstream.js";

const names = {
  longer: "a-model-with-a-much-longer-name/than-the-first-one-had:latest",
  shorter: "q",
  same: "gpt-5-32b",
  foreign: "modèle-大-🙂",
};

let rig: Rig | undefined;

after(() => rig?.stop());

/** One backend for each name, all at the second tier's place, asked as `/longer/…`. */
function addBackends(config: ShippedConfig): void {
  for (const [name, model] of Object.entries(names)) {
    addBackend(config, name, "small");
    Object.assign(clusterOf(config, name).metadata.filter_metadata["llm.breaker"], { model });
    addRoute(config, `/${name}/`, name);
  }
}

for (const h2c of [false, true]) {
  test(`EXT-3: a rewritten body of another length arrives whole over ${h2c ? "h2" : "HTTP/1.1"}`, async () => {
    const second = await startUpstream({ h2c });
    rig = await startRig({
      fixedPorts: [second.port],
      policy: (policy) => {
        neverOpen(policy);
        for (const name of Object.keys(names)) {
          policy.backends[name] = { contextWindow: 8192, rewritesBody: true };
          policy.chains[name] = { ...chainOf(policy), tiers: ["gpu", name], sameTierRetries: 0 };
        }
      },
      patch: (config) => {
        if (h2c) {
          protocolOf(clusterOf(config, "small")).explicit_http_config = { http2_protocol_options: {} };
        }
        const [real] = clusterOf(config, "small").load_assignment.endpoints;
        const address = { socket_address: { address: "127.0.0.1", port_value: second.port } };
        if (real) real.lb_endpoints = [{ endpoint: { address } }];
        addBackends(config);
      },
    });
    rig.gpu.mode = { kind: "status", status: 500 };
    try {
      for (const [name, model] of Object.entries(names)) {
        for (const chunked of [false, true]) {
          const call = `${name}${chunked ? ", chunked" : ""}`;
          const sent =
            '{"model":"qwen3-32b","seed":9007199254740993,"messages":[{"role":"user","content":"grüße 🙂"}]}';
          second.reset();
          const answer = await send(`${rig.url}/${name}/v1/chat/completions`, { body: sent, chunked });
          assert.equal(answer.status, 200, `${call}: ${answer.text}`);
          assert.equal(answer.headers["x-llm-breaker-backend"], name);
          const [arrival] = second.arrivals;
          const got = arrival?.body.toString("utf8") ?? "";
          assert.equal(JSON.parse(got).model, model, call);
          assert.ok(
            got.includes('"seed":9007199254740993,"messages":[{"role":"user","content":"grüße 🙂"}]'),
            got,
          );
          const length = arrival?.headers["content-length"];
          if (length !== undefined) assert.equal(Number(length), arrival?.bodyBytes, call);
        }
      }
    } finally {
      await rig.stop();
      rig = undefined;
      await second.stop();
    }
  });
}
