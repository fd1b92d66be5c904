// What the service's page tells of a real Envoy: the load that a sick backend would have had, and how it stands.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chat, send } from "../support/client.js";
import { waitFor } from "../support/wait-for.js";
import { type Rig, startRig, staysOpen } from "./support/rig.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    concurrency: 2,
    serviceConfig: { log: { level: "info" } },
    policy: (policy) => Object.assign(policy.breaker, staysOpen),
  });
});
after(() => rig?.stop());

async function page(): Promise<string> {
  return (await send(`${rig.service?.httpUrl}/metrics`)).text;
}

/** Sum of a metric's lines for gpu. */
async function gpu(name: string, label = ""): Promise<number | undefined> {
  const lines = (await page()).split("\n").filter((line) => line.startsWith(`${name}{backend="gpu",`));
  const ours = lines.filter((line) => line.includes(label));
  return ours.length === 0 ? undefined : ours.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

test("tells within a second what came to a backend, opened it and was kept from it", async () => {
  await waitFor(
    async () => (await gpu("llm_breaker_backend_state", 'state="CLOSED"')) === 1,
    10_000,
    "a sync",
  );
  for (let times = 0; times < 4; times++) await chat(rig.url);
  await waitFor(async () => (await gpu("llm_breaker_offered_requests_total")) === 4, 3_000, "4 offered");
  assert.equal(await gpu("llm_breaker_outcomes_total", 'class="success"'), 4);
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  await rig.waitForState(1);
  const opened = performance.now();
  await waitFor(async () => (await gpu("llm_breaker_backend_state", 'state="OPEN"')) === 1, 3_000, "OPEN");
  assert.ok(performance.now() - opened < 1_500);
  for (let times = 0; times < 20; times++) await chat(rig.url);
  await waitFor(async () => (await gpu("llm_breaker_offered_requests_total")) === 25, 3_000, "25 offered");
  assert.equal(await gpu("llm_breaker_refused_requests_total"), 20);
  assert.equal(await gpu("llm_breaker_openings_total"), 1);
  const causes = (await page()).match(/^llm_breaker_transitions_total\{backend="gpu".*$/gm);
  assert.equal(causes?.length, 1, causes?.join("\n"));
  assert.match(await page(), /^llm_breaker_gateways\{policy="[^"]+"\} 1$/m);
  assert.match(await page(), /^llm_breaker_sync_age_seconds\{node="llm-breaker",process="[0-9a-f]{16}",/m);
});

test("the service logs each transition with its figures", async () => {
  const line = await waitFor(() => rig.service?.log.matching(/"msg":"transition"/)[0], 3_000, "a line");
  const { backend, to, node, generation } = JSON.parse(line) as Record<string, unknown>;
  assert.deepEqual(
    { backend, to, node, generation },
    { backend: "gpu", to: "OPEN", node: "llm-breaker", generation: 2 },
  );
});
