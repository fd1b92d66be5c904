import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chat } from "../support/client.js";
import type { Mode } from "../support/upstream-mode.js";
import { waitFor } from "../support/wait-for.js";
import { balanceExactly, HALF_OPEN, isProbe, type Rig, recover, startRig } from "./support/rig.js";

let rig: Rig;

before(async () => {
  rig = await startRig({
    concurrency: 4,
    patch: balanceExactly,
    policy: ({ breaker }) => {
      breaker.ramp = [{ percent: 100, maxConcurrent: 2, successes: 4 }];
      breaker.canary = { size: "count", maxPromptTokens: 256, maxOutputTokens: 1024 };
    },
  });
});

after(() => rig.stop());

const canariesSeen = () => rig.gpu.arrivals.filter(({ body }) => !isProbe(body));

async function openAndReachRamp(canary: Mode): Promise<void> {
  rig.reset();
  await recover(rig, () => chat(rig.url));
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  rig.gpu.reset();
  rig.gpu.mode = ({ body }) => (isProbe(body) ? { kind: "ok" } : canary);
  await waitFor(() => rig.transitions().at(-1)?.cause === "PROBE_SUCCEEDED", 10_000, "the ramp");
}

test("each opening is probed once, whatever the number of workers, and nobody else reaches the backend", async () => {
  const opened = await rig.counter("gpu", "opened");
  rig.gpu.mode = { kind: "sseError", at: 0 };
  await chat(rig.url, { stream: true });
  // Probes fail twice, so there are three openings in all. The first wait is shorter than it takes to read a counter.
  rig.gpu.reset();
  rig.gpu.mode = ({ index }) => (index < 2 ? { kind: "status", status: 500 } : { kind: "ok" });
  while (rig.transitions().at(-1)?.cause !== "PROBE_SUCCEEDED") {
    const answers = await Promise.all([chat(rig.url), chat(rig.url, { stream: true }), chat(rig.url)]);
    for (const { status } of answers) assert.equal(status, 200);
  }
  assert.equal(await rig.counter("gpu", "opened"), opened + 3);
  assert.equal(rig.gpu.arrivals.filter(({ body }) => isProbe(body)).length, 3);
  assert.equal(await rig.counter("gpu", "probes"), 3);
});

test("a probe tells the backend nothing of the breaker's, and looks like a small completion", async () => {
  const probe = rig.gpu.arrivals.find(({ body }) => isProbe(body));
  assert.equal(probe?.method, "POST");
  assert.equal(probe?.path, "/v1/chat/completions");
  assert.equal(JSON.parse(probe?.body.toString() ?? "").max_tokens, 1);
  const names = Object.keys(probe?.headers ?? {});
  assert.deepEqual(
    names.filter((name) => /^x-(llm-breaker|envoy)-/.test(name)),
    [],
  );
});

test("only small requests are canaries, by their counted tokens", async () => {
  await openAndReachRamp({ kind: "status", status: 400 });
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const content = [{ type: "text", text: "hi" }, image];
  const refused = {
    "300 tokens in few bytes": () => chat(rig.url, { prompt: "a ".repeat(300) }),
    "a long prompt": () => chat(rig.url, { prompt: "word ".repeat(1500) }),
    "a long answer wanted": () => chat(rig.url, { maxTokens: 5000 }),
    "many answers wanted": () => chat(rig.url, { maxTokens: 400, extra: { n: 3 } }),
    "an image": () => chat(rig.url, { extra: { messages: [{ role: "user", content }] } }),
    "an unknown shape": () => chat(rig.url, { extra: { messages: "hi" } }),
  };
  for (const [what, call] of Object.entries(refused)) {
    await call();
    assert.equal(canariesSeen().length, 0, what);
  }
  // 460 by its bytes / 3, fewer than 256 by its tokens.
  const words = await chat(rig.url, { prompt: "international ".repeat(96) });
  assert.equal(words.headers["x-llm-breaker-backend"], "gpu");
  const small = await chat(rig.url, { prompt: "hi", maxTokens: 1024 });
  assert.equal(small.headers["x-llm-breaker-backend"], "gpu");
  assert.equal(canariesSeen().length, 2);
});

test("never more canaries at once than the stage allows, over all workers", async () => {
  await openAndReachRamp({ kind: "ok", delayMs: 600 });
  rig.gpu.reset();
  const answers = await Promise.all(Array.from({ length: 80 }, () => chat(rig.url)));
  assert.ok(answers.every(({ status }) => status === 200));
  assert.ok(rig.gpu.peak <= 2, `${rig.gpu.peak} canaries at once`);
  assert.equal(rig.gpu.arrivals.length, 2);
  assert.equal(await rig.state(), HALF_OPEN);
});

test("long prompts go on to the fallback until the backend is closed", async () => {
  await openAndReachRamp({ kind: "ok" });
  const long = () => chat(rig.url, { prompt: "word ".repeat(1500) });
  for (let call = 0; call < 3; call++) {
    assert.equal((await long()).headers["x-llm-breaker-backend"], "small");
    assert.equal((await chat(rig.url)).headers["x-llm-breaker-backend"], "gpu");
  }
  await recover(rig, () => chat(rig.url));
  assert.equal((await long()).headers["x-llm-breaker-backend"], "gpu");
});
