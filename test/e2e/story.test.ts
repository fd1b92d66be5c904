import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findRepoRoot } from "../support/repo-root.js";
import { whenProductPortsAreFree } from "./support/product-ports.js";

/** What the story's JSON must say, with the real names of the fields. */
interface Story {
  readonly requests: number;
  readonly ok: number;
  readonly bareFailures: number;
  readonly brokenStreams: number;
  readonly jsonErrors: number;
  readonly opened: number;
  readonly closed: number;
  readonly servedByFallback: number;
  readonly canaryMaxPromptTokens: number;
  readonly maxCanariesAtOnce: number;
  readonly maxProbesPerOpening: number;
  readonly primaryHitsWhileOpen: number;
}

const limitMs = 240_000;

/** Runs the demo as a user does; its own checks make it exit 1. */
async function tell(...words: string[]): Promise<Story> {
  await whenProductPortsAreFree();
  const folder = mkdtempSync(join(tmpdir(), "llm-breaker-story-"));
  const file = join(folder, "out.json");
  const root = findRepoRoot();
  try {
    const args = [join(root, "build", "js", "demo", "main.js"), ...words, "--json", file];
    await new Promise<void>((resolve, reject) => {
      execFile(process.execPath, args, { cwd: root, timeout: limitMs }, (error, stdout, stderr) => {
        if (!error) resolve();
        else reject(new Error(`the story does not hold:\n${`${stdout}\n${stderr}`.slice(-4000)}`));
      });
    });
    return JSON.parse(readFileSync(file, "utf8")) as Story;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function assertGentle(story: Story): void {
  assert.equal(story.bareFailures, 0);
  assert.ok(story.opened >= 1 && story.closed >= 1, "the primary opened and closed");
  assert.ok(story.servedByFallback > 0);
  assert.equal(story.primaryHitsWhileOpen, 0);
  assert.ok(story.maxProbesPerOpening <= 1);
  assert.ok(story.maxCanariesAtOnce <= 2);
  assert.ok(story.canaryMaxPromptTokens <= 256);
}

test("nobody notices the outage of a simulated GPU, with eight workers", { timeout: limitMs }, async () => {
  const story = await tell("--quick", "--seed", "4", "--concurrency", "8");
  assertGentle(story);
  assert.equal(story.ok, story.requests);
});

test("a real model on a real server is killed, restarted and brought back", {
  timeout: limitMs,
}, async () => {
  const story = await tell("--real", "--seed", "1");
  assertGentle(story);
  assert.equal(story.ok + story.brokenStreams + story.jsonErrors, story.requests);
});
