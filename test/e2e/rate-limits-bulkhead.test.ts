import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Answer, send } from "../support/client.js";
import { OutcomeCounts } from "./support/outcome-counts.js";
import { CLOSED, type Rig, startRig } from "./support/rig.js";
import { clusterOf, type ShippedConfig } from "./support/shipped-config.js";

const BATCH_ROOM = 2;

interface Threshold {
  priority: string;
  max_requests: number;
}

let rig: Rig;

before(async () => {
  rig = await startRig({ service: false, concurrency: 1, patch: narrow });
});

beforeEach(() => rig.reset());

after(() => rig.stop());

/** Little room for the batch host's requests at each backend, so that few are needed to fill it. */
function narrow(config: ShippedConfig): void {
  for (const name of ["gpu", "small", "public"]) {
    const { thresholds } = clusterOf(config, name).circuit_breakers as { thresholds: Threshold[] };
    const batch = thresholds.find(({ priority }) => priority === "DEFAULT");
    assert.ok(batch && batch.max_requests < 1000, `${name} has a bulkhead as shipped`);
    batch.max_requests = BATCH_ROOM;
  }
}

function ask(host: string): Promise<Answer> {
  const body = JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content: "hi" }] });
  return send(`${rig.url}/v1/chat/completions`, { headers: { host }, body });
}

const backendOf = ({ headers }: Answer) => headers["x-llm-breaker-backend"];

test("batch work above its room is refused, takes nobody's, and is no failure of a backend", async () => {
  for (const upstream of [rig.gpu, rig.small, rig.public_]) upstream.mode = { kind: "ok", delayMs: 1500 };
  const batch = Array.from({ length: 12 }, () => ask("batch.llm.internal"));
  const others = Array.from({ length: 12 }, () => ask("llm.internal"));
  for (const answer of await Promise.all(others)) {
    assert.deepEqual([answer.status, backendOf(answer)], [200, "gpu"]);
  }
  const answers = await Promise.all(batch);
  const served = answers.filter(({ status }) => status === 200);
  // Without the service a tier whose body must be rewritten is skipped: only the first one's room is there.
  assert.equal(served.length, BATCH_ROOM);
  for (const refused of answers.filter(({ status }) => status !== 200)) {
    assert.equal(refused.status, 503);
    assert.ok(JSON.parse(refused.text).error.code, refused.text);
  }
  assert.equal(rig.gpu.arrivals.length, 12 + BATCH_ROOM);
  for (const alias of ["gpu", "small", "public"] as const) assert.equal(await rig.state(alias), CLOSED);
  // The twelve others and the batch requests that had room; the rest never was an attempt of the backend's.
  const { success, neutral, ...bad } = await new OutcomeCounts(rig).news();
  assert.deepEqual([success, bad], [12 + BATCH_ROOM, {}]);
  assert.equal(neutral, 12 - BATCH_ROOM);
});
