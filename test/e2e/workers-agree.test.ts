import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { after, before, test } from "node:test";
import { balanceExactly, noTrigger, type Rig, startRig, staysOpen } from "./support/rig.js";

// What one worker has seen holds for the next request at another, though most requests neither read nor write the record.

const streak = 5;
const poison = "poison";
const breaker = { ...noTrigger, ...staysOpen, consecutiveFailuresThreshold: streak };
const rigs: Rig[] = [];
let told: Rig;
let untold: Rig;

async function start(statsConfig?: object): Promise<Rig> {
  const rig = await startRig({
    service: false,
    concurrency: 2,
    policy: (policy) => void Object.assign(policy.breaker, breaker),
    patch: (config) => {
      balanceExactly(config);
      if (statsConfig) Object.assign(config, { stats_config: statsConfig });
    },
  });
  rigs.push(rig);
  rig.gpu.mode = ({ body }) => (body.includes(poison) ? { kind: "status", status: 500 } : { kind: "ok" });
  return rig;
}

before(async () => {
  told = await start();
  untold = await start({ stats_matcher: { reject_all: true } });
});

after(async () => {
  for (const rig of rigs) await rig.stop();
});

/** A caller with one connection, and so one worker; gives the backend that answered. */
function newCaller(rig: Rig): (text: string) => Promise<string | undefined> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (text) =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json" };
      const url = `${rig.url}/v1/chat/completions`;
      const call = request(url, { method: "POST", agent, headers }, (answer) => {
        answer.resume();
        answer.on("end", () => resolve(answer.headers["x-llm-breaker-backend"]?.toString()));
      });
      call.on("error", reject);
      call.end(JSON.stringify({ model: "m", messages: [{ role: "user", content: text }], max_tokens: 5 }));
    });
}

/** Two callers at two workers, each of which has answered. */
async function twoCallers(rig: Rig): Promise<ReturnType<typeof newCaller>[]> {
  const callers = [newCaller(rig), newCaller(rig)];
  for (const call of callers) assert.equal(await call("hi"), "gpu");
  return callers;
}

for (const [name, rigOf] of [
  ["Envoy", () => told],
  ["an Envoy whose stats matcher drops every stat", () => untold],
] as const) {
  test(`${name}: a caller whose calls all fail makes no row of failures while another's succeed`, async () => {
    const [unlucky, lucky] = await twoCallers(rigOf());
    for (let count = 0; count < streak * 4; count++) {
      assert.equal(await unlucky?.(poison), "small");
      assert.equal(await lucky?.("hi"), "gpu");
    }
    assert.deepEqual(rigOf().transitions(), []);
  });

  test(`${name}: what one worker has opened, the next request at another does not go to`, async () => {
    const [unlucky, lucky] = await twoCallers(rigOf());
    for (let count = 0; count < streak; count++) await unlucky?.(poison);
    rigOf().gpu.reset();
    assert.equal(await lucky?.("hi"), "small");
    assert.equal(rigOf().gpu.arrivals.length, 0);
  });
}
