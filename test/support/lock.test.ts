import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { findRepoRoot } from "./repo-root.js";
import { waitFor } from "./wait-for.js";

const folder = mkdtempSync(join(tmpdir(), "llm-breaker-lock-"));
const script = pathToFileURL(join(findRepoRoot(), "scripts", "lock.mjs")).href;
const diary = join(folder, "diary");
const lock = join(folder, "lock");

type WithLock = (file: string, say: (line: string) => void, work: () => Promise<string>) => Promise<string>;

/** Writes into the diary when it comes and when it goes, and reads it in between. */
const worker = `
  import { appendFileSync } from "node:fs";
  import { setTimeout as delay } from "node:timers/promises";
  import { withLock } from ${JSON.stringify(script)};
  const [lock, diary] = process.argv.slice(-2);
  await withLock(lock, console.error, async () => {
    appendFileSync(diary, "in ");
    await delay(50);
    appendFileSync(diary, "out ");
  });`;

after(() => rmSync(folder, { recursive: true }));

class Worker {
  said = "";
  readonly ended: Promise<unknown[]>;

  constructor() {
    const words = ["--input-type=module", "--eval", worker, "--", lock, diary];
    const child = spawn(process.execPath, words, { stdio: ["ignore", "ignore", "pipe"] });
    child.stderr.on("data", (bytes) => {
      this.said += bytes;
    });
    this.ended = once(child, "close");
  }
}

test("of several processes one works at a time, and a dead one's lock holds nobody", async () => {
  const { pid: dead } = spawnSync(process.execPath, ["--eval", ""]);
  writeFileSync(lock, String(dead));
  const workers = Array.from({ length: 4 }, () => new Worker());
  const ended = await Promise.all(workers.map(({ ended }) => ended));
  assert.deepEqual(
    ended.map(([code]) => code),
    [0, 0, 0, 0],
  );
  assert.equal(readFileSync(diary, "utf8"), "in out ".repeat(4));
  assert.ok(!existsSync(lock));
  assert.deepEqual(readdirSync(folder), ["diary"]);
});

test("who waits says for whom, in one line", async () => {
  writeFileSync(lock, String(process.pid));
  const waiting = new Worker();
  await waitFor(() => waiting.said.includes("\n"), 10_000, "a word");
  rmSync(lock);
  const [code] = await waiting.ended;
  assert.equal(code, 0);
  assert.equal(waiting.said, `waiting for process ${process.pid}, which does the same here (${lock})\n`);
});

test("what is left of a process whose number another one has now, or this one, or of none, holds nobody", async () => {
  const { pid } = process;
  for (const left of [`${pid} 1`, "", "nobody", "0"]) {
    writeFileSync(lock, left);
    assert.deepEqual(await new Worker().ended, [0, null], left);
  }
  const { withLock } = (await import(script)) as { withLock: WithLock };
  writeFileSync(lock, String(pid));
  assert.equal(await withLock(lock, assert.fail, async () => "done"), "done");
  assert.ok(!existsSync(lock));
});
