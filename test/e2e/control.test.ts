import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { promisify } from "node:util";
import { chat } from "../support/client.js";
import { freePort } from "../support/ports.js";
import { findRepoRoot } from "../support/repo-root.js";
import { type RunningService, startService } from "../support/service.js";
import { waitFor } from "../support/wait-for.js";
import { CLOSED, OPEN, type Rig, startRig, staysOpen } from "./support/rig.js";
import { clusterOf } from "./support/shipped-config.js";

// The llm-breaker command, the service and a real Envoy with two workers.

const COMMAND = join(findRepoRoot(), "build", "js", "extproc", "cli", "main.js");
const run = promisify(execFile);

let ports: { grpc: number; http: number; admin: number };
let service: RunningService;
let rig: Rig;

function startControl(): Promise<RunningService> {
  const [grpc, http, admin] = [ports.grpc, ports.http, ports.admin].map((port) => `127.0.0.1:${port}`);
  const config = { listen: { grpc, http, admin }, log: { level: "info" } };
  return startService({ config, httpPort: ports.http });
}

before(async () => {
  ports = { grpc: await freePort(), http: await freePort(), admin: await freePort() };
  service = await startControl();
  rig = await startRig({
    service: false,
    concurrency: 2,
    fixedPorts: [ports.http],
    policy: (policy) => {
      Object.assign(policy.breaker, staysOpen);
      policy.service = { cluster: "llm-breaker-service-http" };
      for (const backend of Object.values(policy.backends)) backend.rewritesBody = false;
    },
    patch: (config) => {
      const [endpoints] = clusterOf(config, "llm-breaker-service-http").load_assignment.endpoints;
      const address = { socket_address: { address: "127.0.0.1", port_value: ports.http } };
      if (endpoints) endpoints.lb_endpoints = [{ endpoint: { address } }];
    },
  });
  await waitFor(async () => (await llmBreaker("status")).includes("gpu"), 10_000, "a first sync");
});

after(async () => {
  await rig?.stop();
  await service?.stop();
});

beforeEach(() => rig.reset());

async function llmBreaker(...words: string[]): Promise<string> {
  const env = { ...process.env, LLM_BREAKER_URL: `http://127.0.0.1:${ports.admin}` };
  return (await run(process.execPath, [COMMAND, ...words], { env })).stdout;
}

async function answeredBy(): Promise<string> {
  return String((await chat(rig.url)).headers["x-llm-breaker-backend"]);
}

/** Each worker has to know: several calls, each on a connection of its own. */
async function allAnsweredBy(backend: string): Promise<boolean> {
  const answers = await Promise.all(Array.from({ length: 8 }, answeredBy));
  return answers.every((each) => each === backend);
}

test("open sends callers to the next tier within two seconds, and ends by itself", async () => {
  assert.equal(await answeredBy(), "gpu");
  const said = await llmBreaker("open", "gpu", "--for", "4s", "--why", "test", "--who", "ada");
  assert.equal(said, "gpu is FORCED OPEN for 4 s, by ada: test\n");
  const startedMs = performance.now();
  await waitFor(() => allAnsweredBy("small"), 2_000, "the next tier on every worker");
  const isShown = async () => /gpu +FORCED OPEN .*by ada, \d s left: test/.test(await llmBreaker("status"));
  await waitFor(isShown, 2_000, "the mode in the gateway's next report");
  await waitFor(() => allAnsweredBy("gpu"), 6_000, "the end of the word");
  const heldMs = performance.now() - startedMs;
  assert.ok(heldMs > 3_000 && heldMs < 6_500, `${heldMs} ms`);
  const told = /gpu {2}open for 4 s by ada: test\n.*gpu {2}ended \(forcedOpen\) by ada/s;
  await waitFor(async () => told.test(await llmBreaker("history")), 2_000, "the word's begin and end");
});

test("a reset closes an open breaker on every worker, and the history has who and why", async () => {
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  await rig.waitForState(OPEN);
  rig.gpu.mode = { kind: "ok" };
  await llmBreaker("reset", "gpu", "--why", "replaced", "--who", "bob");
  await rig.waitForState(CLOSED, "gpu", 3_000);
  await waitFor(() => allAnsweredBy("gpu"), 2_000, "its traffic");
  await waitFor(
    async () => /OPEN → CLOSED {2}OPERATOR_RESET.* by bob: replaced/.test(await llmBreaker("history")),
    3_000,
    "the transition",
  );
});

test("what is closed or disabled gets its traffic whatever it answers", async () => {
  for (const [word, mode] of [
    ["close", "forcedClosed"],
    ["disable", "disabled"],
  ] as const) {
    await llmBreaker(word, "gpu", "--for", "30s", "--why", "test");
    const isHeard = async () => {
      const { gateways } = JSON.parse(await llmBreaker("status", "gpu", "--json"));
      return gateways.every((gateway: { mode: string }) => gateway.mode === mode);
    };
    await waitFor(isHeard, 3_000, `${mode} in Envoy's own report`);
    rig.gpu.mode = { kind: "sseError", at: 0 };
    for (let call = 0; call < 3; call++) await chat(rig.url, { stream: true });
    assert.equal(await rig.state(), CLOSED, mode);
    assert.equal(rig.gpu.arrivals.length >= 3, true, "it was asked each time");
    rig.reset();
  }
  await llmBreaker("withdraw", "gpu");
  const isEnforced = async () => JSON.parse(await llmBreaker("status", "gpu", "--json")).mode === "enforce";
  await waitFor(isEnforced, 3_000, "the policy's mode");
});

test("a word outlives the service: Envoy keeps to it, and tells the next one, which can take it back", async () => {
  await llmBreaker("open", "gpu", "--for", "10m", "--why", "driver update", "--who", "ada");
  await waitFor(() => allAnsweredBy("small"), 3_000, "the next tier");
  await service.stop();
  assert.ok(await allAnsweredBy("small"), "without a service too");
  service = await startControl();
  const isKnown = async () =>
    /FORCED OPEN .*by ada, (9|10) m.* left: driver update/.test(await llmBreaker("status"));
  await waitFor(isKnown, 5_000, "what Envoy told");
  assert.match(await llmBreaker("history"), /gpu {2}learned \(forcedOpen\) for .* by ada: driver update/);
  await llmBreaker("withdraw", "gpu", "--why", "done");
  await waitFor(() => allAnsweredBy("gpu"), 3_000, "the policy again");
});
