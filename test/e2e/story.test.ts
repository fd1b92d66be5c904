import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { whenProductPortsAreFree } from "../support/product-ports.js";
import { findRepoRoot } from "../support/repo-root.js";
import { assertGentle, type Story } from "../support/story.js";

// The simulated GPU's outage is in test/page: a browser looks on.

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

test("a real model on a real server is killed, restarted and brought back", {
  timeout: limitMs,
}, async () => {
  const story = await tell("--real", "--seed", "1");
  assertGentle(story);
  assert.equal(story.ok + story.brokenStreams + story.jsonErrors, story.requests);
});
