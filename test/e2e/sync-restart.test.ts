import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, chat } from "../support/client.js";
import { freePort } from "../support/ports.js";
import { type RunningService, startService } from "../support/service.js";
import { waitFor } from "../support/wait-for.js";
import { OPEN, type Rig, startRig, staysOpen } from "./support/rig.js";
import { clusterOf, type ShippedConfig } from "./support/shipped-config.js";

// One service outlives two Envoys that have one node id, one after the other, as in a rolling restart.

let service: RunningService;
let httpPort: number;
let rig: Rig;

before(async () => {
  httpPort = await freePort();
  const listen = { grpc: `127.0.0.1:${await freePort()}`, http: `127.0.0.1:${httpPort}`, admin: "off" };
  service = await startService({ config: { listen, log: { level: "warn" } }, httpPort });
  rig = await startGateway();
});

after(async () => {
  await rig?.stop();
  await service?.stop();
});

function startGateway(): Promise<Rig> {
  return startRig({
    service: false,
    fixedPorts: [httpPort],
    policy: (policy) => {
      Object.assign(policy.breaker, staysOpen);
      policy.service = { cluster: "llm-breaker-service-http" };
      for (const backend of Object.values(policy.backends)) backend.rewritesBody = false;
    },
    patch: (config: ShippedConfig) => {
      const [endpoints] = clusterOf(config, "llm-breaker-service-http").load_assignment.endpoints;
      const address = { socket_address: { address: "127.0.0.1", port_value: httpPort } };
      if (endpoints) endpoints.lb_endpoints = [{ endpoint: { address } }];
    },
  });
}

const backendOf = ({ headers }: Answer) => headers["x-llm-breaker-backend"];

test("an Envoy that was restarted goes on with what was open, and with what is left of its wait", async () => {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  assert.equal(await rig.state(), OPEN);
  const [opened] = rig.transitions();
  // Told at the latest with the second request of the process.
  await sleep(1_600);
  await rig.stop();

  const startedMs = performance.now();
  rig = await startGateway();
  const restored = await rig.waitForCause("RESTORED");
  assert.deepEqual([restored.from, restored.to], ["CLOSED", "OPEN"]);
  assert.ok(opened && restored.waitMs < opened.waitMs && restored.waitMs > opened.waitMs - 20_000);
  assert.equal(backendOf(await chat(rig.url)), "small");
  assert.deepEqual(rig.hits, [0, 1, 0]);
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs < 10_000, `restored after ${tookMs} ms`);
});

test("what the process has seen by itself is not overruled, nor restored twice", async () => {
  await waitFor(async () => (await rig.state()) === OPEN, 1_000, "the restored opening");
  await sleep(2_500);
  assert.equal(rig.transitions().filter(({ cause }) => cause === "RESTORED").length, 1);
  assert.equal(rig.transitions("small").length + rig.transitions("public").length, 0);
});
