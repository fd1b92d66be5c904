import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { TokenFile } from "../../../extproc/signals/token-file.js";

const folder = mkdtempSync(join(tmpdir(), "llm-breaker-"));
after(() => rmSync(folder, { recursive: true }));

test("a token that was replaced is sent after 5 s", async () => {
  const path = join(folder, "token");
  let nowMs = 0;
  writeFileSync(path, "first\n");
  const file = new TokenFile(path, () => nowMs);
  assert.equal(await file.read(), "first");
  writeFileSync(path, "second\n");
  nowMs = 4_999;
  assert.equal(await file.read(), "first");
  nowMs = 5_000;
  assert.equal(await file.read(), "second");
});

test("what is no token is refused without being shown", async () => {
  for (const text of ["", " \n", "two words", "line\r\nheader: x", "x".repeat(16_385), "sécret"]) {
    const path = join(folder, "bad");
    writeFileSync(path, text);
    await assert.rejects(new TokenFile(path, () => 0).read(), ({ message }: Error) => {
      assert.match(message, /bearerTokenFile .* must hold one token/);
      assert.ok(text.trim() === "" || !message.includes(text.trim()));
      return true;
    });
  }
  await assert.rejects(new TokenFile(join(folder, "none"), () => 0).read(), /can't be read \(ENOENT\)/);
});

test("a pipe that nobody writes to is no token, and is not waited for", async () => {
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  // More than the threads that files are read by.
  const reads = Array.from({ length: 8 }, () => new TokenFile(path, () => 0).read());
  await Promise.all(reads.map((read) => assert.rejects(read, /must hold one token/)));
});
