import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { neverOpen, type Rig, startRig } from "../e2e/support/rig.js";
import {
  clusterOf,
  type Filter,
  type PolicyJson,
  protocolOf,
  type ShippedConfig,
} from "../e2e/support/shipped-config.js";
import type { Answer } from "../support/client.js";
import type { Mode } from "../support/upstream-mode.js";
import { addAloneChains, addAloneRoutes, askAlone } from "./support/alone.js";

/** Takes connections and never says a word: a service that hangs. */
let mute: Server;
const muteSockets = new Set<Socket>();
let rig: Rig;

before(async () => {
  mute = createServer((socket) => {
    muteSockets.add(socket.on("error", () => {}));
  });
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const { port } = mute.address() as { port: number };
  rig = await startRig({
    service: false,
    fixedPorts: [port],
    policy,
    patch: (config) => patch(config, port),
  });
});

beforeEach(() => rig.reset());

after(async () => {
  await rig?.stop();
  for (const socket of muteSockets) socket.destroy();
  mute.close();
});

function policy(json: PolicyJson): void {
  neverOpen(json);
  addAloneChains(json);
}

/** small and public get a body filter that fails closed, by a service that is away and by one that hangs. */
function patch(config: ShippedConfig, mutePort: number): void {
  addAloneRoutes(config);
  for (const [name, port] of [
    ["small", 1],
    ["public", mutePort],
  ] as const) {
    const service = structuredClone(clusterOf(config, "llm-breaker-service"));
    service.name = `${name}-rewriter`;
    const address = { socket_address: { address: "127.0.0.1", port_value: port } };
    Object.assign(service.load_assignment, {
      cluster_name: service.name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    });
    config.static_resources.clusters.push(service);
    protocolOf(clusterOf(config, name)).http_filters.splice(1, 0, rewriterOf(service.name));
  }
}

function rewriterOf(cluster: string): Filter {
  return {
    name: "llm.breaker.rewrite",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor",
      grpc_service: { envoy_grpc: { cluster_name: cluster } },
      processing_mode: { request_body_mode: "BUFFERED", response_header_mode: "SKIP" },
      failure_mode_allow: false,
      message_timeout: "0.3s",
    },
  };
}

for (const [alias, what] of [
  ["small", "is away"],
  ["public", "hangs"],
] as const) {
  test(`OUT-8: a body filter's own error because its service ${what} is no failure of the backend`, async () => {
    for (let call = 0; call < 10; call++) {
      const answer = await askAlone(rig, alias);
      assert.ok(answer.status >= 500, `${answer.status} ${answer.text}`);
    }
    assert.deepEqual(rig.hits, [0, 0, 0]);
    assert.equal(await rig.counter(alias, "outcome.failure"), 0);
    assert.equal(await rig.counter(alias, "outcome.neutral"), 10);
  });
}

const failing: Readonly<Record<string, Mode>> = {
  "a reset": { kind: "reset" },
  "a limit that ran out before headers": { kind: "hang" },
  "a limit that ran out after headers": { kind: "stall" },
};

for (const [what, mode] of Object.entries(failing)) {
  test(`OUT-8: ${what} is a failure of the backend`, async () => {
    const failures = await rig.counter("gpu", "outcome.failure");
    rig.gpu.mode = mode;
    assertJsonError(await askAlone(rig, "gpu", { stream: true }));
    assert.equal(await rig.counter("gpu", "outcome.failure"), failures + 1);
  });
}

test("OUT-8: a refused connection is a failure of the backend", async () => {
  const failures = await rig.counter("gpu", "outcome.failure");
  const { port } = rig.gpu;
  await rig.gpu.stop();
  try {
    assertJsonError(await askAlone(rig, "gpu"));
    assert.equal(await rig.counter("gpu", "outcome.failure"), failures + 1);
  } finally {
    await rig.gpu.listen(port);
  }
});

function assertJsonError(answer: Answer): void {
  assert.ok(answer.status >= 500, `${answer.status} ${answer.text}`);
  assert.equal(typeof JSON.parse(answer.text).error.message, "string", answer.text);
}
