import assert from "node:assert/strict";
import { test } from "node:test";
import { runTarget } from "./run-target.js";
import type { Session, Target } from "./target.js";

const SETTINGS = { cases: 4000, seed: 5, untilMs: Number.POSITIVE_INFINITY };

function targetOf(run: Session["run"], more: Partial<Target> = {}): Target {
  const seeds = [Buffer.from('{"model":"m","n":1}')];
  return { name: "made up", parsers: [], seeds, ...more, open: () => ({ run }) };
}

const run = (target: Target, settings = SETTINGS) => runTarget(target, settings, () => {});

test("a parser that does what it says passes, and the same seed makes the same cases", async () => {
  const digests: string[] = [];
  for (let turn = 0; turn < 2; turn++) {
    let digest = 0;
    const announce = (bytes: Buffer) => {
      for (const byte of bytes) digest = (digest * 31 + byte) | 0;
    };
    // How many long cases there is time for is another number each time.
    const target = targetOf((bytes) => String(bytes.length % 16), { linearBytes: 0 });
    const { failures, cases, kinds } = await runTarget(target, SETTINGS, announce);
    assert.deepEqual([failures, cases, kinds], [[], 4000, 16]);
    digests.push(String(digest));
  }
  assert.equal(digests[0], digests[1]);
});

test("one that throws is told once for each way, with the least bytes that make it", async () => {
  const target = targetOf((bytes) => {
    if (bytes.includes("}}")) throw new TypeError("two braces");
    return "";
  });
  const { failures } = await run(target);
  assert.equal(failures.length, 1);
  assert.match(failures[0] ?? "", /^TypeError: two braces\n {2}bytes: Buffer\.from\("\}\}"\)\n/);
});

test("one that takes long is told", async () => {
  const target = targetOf((bytes) => {
    const endAt = performance.now() + (bytes.includes("[[[") ? 30 : 0);
    while (performance.now() < endAt);
    return "";
  });
  const { failures } = await run({ ...target, caseMs: 20 });
  assert.match(failures[0] ?? "", /took \d+ ms, 20 are allowed/);
});

test("one that keeps what it has read is told", async () => {
  const kept: Buffer[] = [];
  const target = targetOf(() => {
    kept.push(Buffer.alloc(4000));
    return "";
  });
  const { failures } = await run(target);
  assert.match(failures[0] ?? "", /holds \d+ bytes more after 3200 cases/);
});
