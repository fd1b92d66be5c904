import assert from "node:assert/strict";
import { test } from "node:test";
import { VocabularyThread } from "../../../extproc/tokens/vocabulary-thread.js";

const SCRIPT = new URL("./slow-vocabulary.js", import.meta.url);
const HANG_MS = 1000;

async function startSlow() {
  let exits = 0;
  const thread = new VocabularyThread("none", () => exits++, SCRIPT, HANG_MS);
  await thread.ready;
  const ask = (ms: number) =>
    thread.count({ kind: "texts", texts: ["x".repeat(ms)], withMarks: false }).then((reply) => reply?.tokens);
  return { thread, ask, exits: () => exits };
}

test("a thread with a long queue is none that hangs", async () => {
  const { thread, ask, exits } = await startSlow();
  const counts = await Promise.all(Array.from({ length: 40 }, () => ask(50)));
  assert.deepEqual(counts, Array(40).fill(50));
  assert.ok(thread.isIdle && thread.isReady);
  assert.equal(exits(), 0);
  await thread.close();
});

test("a thread without an answer is ended, with all that wait for it", async () => {
  const { thread, ask, exits } = await startSlow();
  const startedAt = performance.now();
  assert.deepEqual(await Promise.all([ask(10), ask(60_000), ask(10)]), [10, undefined, undefined]);
  assert.ok(performance.now() - startedAt < 3 * HANG_MS);
  assert.equal(exits(), 1);
  assert.ok(thread.isIdle && !thread.isReady);
});
