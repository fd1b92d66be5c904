import assert from "node:assert/strict";
import { after, test } from "node:test";
import { WorkerPool } from "../../../extproc/threads/worker-pool.js";
import type { Chore } from "./chores.js";

const SCRIPT = new URL("./chores.js", import.meta.url);
const pools: WorkerPool<Chore, unknown>[] = [];

function poolOf(given: { size?: number; maxWaiting?: number; timeLimitMs?: number } = {}) {
  const pool = new WorkerPool<Chore, unknown>({
    script: SCRIPT,
    size: 1,
    maxWaiting: 4,
    timeLimitMs: 5000,
    maxHeapMiB: 64,
    ...given,
  });
  pools.push(pool);
  return pool;
}

after(() => Promise.all(pools.map((pool) => pool.close())));

test("answers jobs one after another, moving their bytes", async () => {
  const pool = poolOf();
  const bytes = new Uint8Array([1, 2, 3]);
  const [first, second] = await Promise.all([
    pool.run({ kind: "sum", bytes }, [bytes.buffer]),
    pool.run({ kind: "sum", bytes: new Uint8Array([4]) }),
  ]);
  assert.equal(bytes.length, 0);
  assert.deepEqual([first, second], [6, 4]);
});

test("gives no answer for a job that throws, and goes on with the same worker", async () => {
  const pool = poolOf();
  const before = await pool.run({ kind: "thread" });
  assert.equal(await pool.run({ kind: "throw" }), undefined);
  assert.equal(await pool.run({ kind: "thread" }), before);
});

test("gives no answer at once for one that is nested too deep to be sent or to be read", async () => {
  const pool = poolOf();
  const thread = await pool.run({ kind: "thread" });
  const unanswered: number[] = [];
  for (let depth = 1000; depth < 120_000; depth = Math.ceil(depth * 1.2)) {
    const startedAt = performance.now();
    if ((await pool.run({ kind: "nest", depth })) === undefined) unanswered.push(depth);
    assert.ok(performance.now() - startedAt < 1000, `${depth}`);
  }
  assert.ok(unanswered.length > 3);
  assert.equal(await pool.run({ kind: "thread" }), thread);
});

test("replaces a worker that exits, runs out of memory or is stuck", async () => {
  const pool = poolOf({ timeLimitMs: 3000 });
  for (const kind of ["exit", "grow", "stuck"] as const) {
    assert.equal(await pool.run({ kind }), undefined, kind);
    assert.equal(await pool.run({ kind: "sum", bytes: new Uint8Array([7]) }), 7, kind);
  }
});

test("ends a job at its time limit, also one that still waits", async () => {
  const pool = poolOf({ timeLimitMs: 200 });
  const startedAt = performance.now();
  assert.deepEqual(await Promise.all([pool.run({ kind: "stuck" }), pool.run({ kind: "stuck" })]), [
    undefined,
    undefined,
  ]);
  assert.ok(performance.now() - startedAt < 2000);
});

test("lets no more jobs wait than it is told", async () => {
  const pool = poolOf({ maxWaiting: 1, timeLimitMs: 1000 });
  const first = pool.run({ kind: "stuck" });
  const second = pool.run({ kind: "stuck" });
  const startedAt = performance.now();
  assert.equal(await pool.run({ kind: "thread" }), undefined);
  assert.ok(performance.now() - startedAt < 500);
  await Promise.all([first, second]);
});

test("works side by side up to its size", async () => {
  const pool = poolOf({ size: 2 });
  const [one, two] = await Promise.all([pool.run({ kind: "thread" }), pool.run({ kind: "thread" })]);
  assert.notEqual(one, two);
});

test("gives no answers once it is closed", async () => {
  const pool = poolOf();
  const open = pool.run({ kind: "stuck" });
  await pool.close();
  assert.equal(await open, undefined);
  assert.equal(await pool.run({ kind: "thread" }), undefined);
});
