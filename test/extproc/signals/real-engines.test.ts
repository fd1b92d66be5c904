import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { pino } from "pino";
import { startFleet } from "../../../demo/fleet/fleet.js";
import { demoBackends } from "../../../demo/fleet/settings.js";
import { installRealModel } from "../../../demo/real/install.js";
import { EngineSignals } from "../../../extproc/signals/engine-signals.js";
import { signalsSettings } from "../../../extproc/signals/settings.js";
import { Child } from "../../support/child.js";
import { freePort } from "../../support/ports.js";
import { findRepoRoot } from "../../support/repo-root.js";
import { waitFor } from "../../support/wait-for.js";

const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers.reverse()) await close();
});

const LIMIT_MS = 15_000;

function watch(port: number, period: string, lines: string[] = []): EngineSignals {
  const backends = { gpu: { metrics: `http://localhost:${port}/metrics`, longQueue: 1 } };
  const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const signals = new EngineSignals(signalsSettings.parse({ period, backends }), log).start();
  closers.push(() => signals.close());
  return signals;
}

/** Asks for long answers, which end with the test. */
function load(port: number, requests: number, maxTokens: number): AbortController {
  const load = new AbortController();
  closers.push(() => load.abort());
  const body = JSON.stringify({
    model: "smollm2",
    messages: [{ role: "user", content: "Count as far as you can." }],
    max_tokens: maxTokens,
    stream: true,
    ignore_eos: true,
  });
  for (let index = 0; index < requests; index++) {
    const asked = { method: "POST", body, signal: load.signal };
    fetch(`http://127.0.0.1:${port}/v1/chat/completions`, asked)
      .then((answer) => answer.text())
      .catch(() => {});
  }
  return load;
}

test("a real llama.cpp server's queue is seen while it lasts, and its KV cache is unknown", async () => {
  const root = findRepoRoot();
  const { python, modelFile } = await installRealModel(root, () => {});
  const port = await freePort();
  const args = [join(root, "demo", "real", "server.py"), modelFile, String(port)];
  const llama = new Child({ name: "the model server", program: python, args, cwd: root });
  closers.push(() => llama.stop());
  await llama.whenReady(async () => (await fetch(`http://127.0.0.1:${port}/health`)).ok, 30_000);
  const lines: string[] = [];
  const signals = watch(port, "1s", lines);
  await waitFor(() => signals.of("gpu")?.waiting === 0, LIMIT_MS, "an empty queue");
  // Four slots; of the eight that wait some do so where the server does not see them yet.
  const twelve = load(port, 12, 400);
  await waitFor(() => signals.of("gpu")?.isQueueLong === true, LIMIT_MS, "a long queue");
  const { waiting = 0, ...told } = signals.of("gpu") ?? {};
  assert.ok(waiting >= 1 && waiting <= 8, `${waiting} wait`);
  assert.deepEqual(told, { isFresh: true, isWhole: false, isQueueLong: true });
  twelve.abort();
  await waitFor(() => signals.of("gpu")?.waiting === 0, LIMIT_MS, "an empty queue again");
  assert.deepEqual(lines, ["metrics tell no KV-cache use that we know: unknown, no decision is made by it"]);
});

test("the simulated engine's KV cache fills under load, by whatever name it has", async () => {
  const slow = {
    firstTokenMs: 60_000,
    prefillMsPerToken: 0,
    tokenGapMs: 0,
    jitter: 0,
    answerTokens: [8, 8] as const,
  };
  const backends = demoBackends([0, 0, 0]).map((each) => ({
    ...each,
    pace: slow,
    maxRunning: 4,
    kvCacheTokens: 4_000,
  }));
  const fleet = await startFleet({ backends, adminPort: 0 });
  closers.push(() => fleet.stop());
  const { port } = fleet.backend("gpu");
  const page = (settings: object) =>
    fetch(`http://127.0.0.1:${fleet.adminPort}/page`, {
      method: "POST",
      body: JSON.stringify({ backend: "gpu", ...settings }),
    });
  const signals = watch(port, "200ms");
  const use = () => signals.of("gpu")?.kvCacheUse;
  await waitFor(() => use() === 0, LIMIT_MS, "an empty cache");
  const six = load(port, 6, 900);
  await waitFor(
    () => (use() ?? 0) > 0.9 && signals.of("gpu")?.waiting === 2,
    LIMIT_MS,
    "a full cache and a queue",
  );
  await page({ kvCacheNames: "neither" });
  await waitFor(() => signals.of("gpu")?.isFresh && use() === undefined, LIMIT_MS, "an unknown use");
  await page({ kvCacheNames: "old" });
  await waitFor(() => (use() ?? 0) > 0.9, LIMIT_MS, "a use by its old name");
  await page({ kvCacheNames: "both", kvCacheUsage: "NaN" });
  await waitFor(() => use() === undefined, LIMIT_MS, "an unknown use");
  six.abort();
  await page({});
  await waitFor(() => use() === 0 && signals.of("gpu")?.waiting === 0, LIMIT_MS, "an empty cache again");
});
