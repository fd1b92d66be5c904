import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { CountRole } from "../../../extproc/count/role.js";

const role = new CountRole({
  counter: { count: async () => ({ tokens: 5, isExact: true, family: "qwen" }) },
  replier: { reply: () => undefined },
  maxBodyBytes: 16_777_216,
  maxTextBytes: 262_144,
  warn: () => {},
});

async function count(body: Buffer, coding?: string): Promise<void> {
  const headers = new Map([[":path", "/v1/chat/completions"]]);
  if (coding) headers.set("content-encoding", coding);
  await role.begin({ headers, attributes: new Map() }).onRequestBody(body, true);
}

const chat = (content: string, more = "") =>
  Buffer.from(`{"messages":[{"role":"user","content":"${content}"}]${more}}`);

const SMALL = chat("x".repeat(1000));
const open = "[".repeat(500_000);

/** Each of them would hold up the event loop for long if it were read there. */
const HOSTILE: Record<string, [body: Buffer, coding?: string]> = {
  "1 MB of text": [chat("x".repeat(1_000_000))],
  "1 MB of brackets": [chat("x", `,"tools":${open}${"]".repeat(500_000)}`)],
  "1 MB of keys": [chat("x", `,${Array.from({ length: 90_000 }, (_, i) => `"k${i}":0`).join(",")}`)],
  "1 MB of escapes": [chat("\\u0041".repeat(160_000))],
  "15 MB of text": [chat("x".repeat(15_000_000))],
  "15 MB of empty messages": [Buffer.from(`{"messages":[${"{},".repeat(5_000_000)}{}]}`)],
  "15 MB, compressed": [gzipSync(chat("x".repeat(15_000_000))), "gzip"],
};

/** The slowest but one of a hundred small requests, 5 ms apart. Milliseconds. */
async function p99(): Promise<number> {
  const took: number[] = [];
  const requests: Promise<void>[] = [];
  for (let sent = 0; sent < 100; sent++) {
    const dueAt = performance.now() + 5;
    await sleep(5);
    requests.push(count(SMALL).then(() => void took.push(performance.now() - dueAt)));
  }
  await Promise.all(requests);
  return took.sort((a, b) => a - b)[98] ?? Number.POSITIVE_INFINITY;
}

for (const [name, [body, coding]] of Object.entries(HOSTILE)) {
  test(`small requests beside ${name} see less than 50 ms more`, async () => {
    const added: number[] = [];
    // The machine's own noise only ever adds: the best of five tells what we add.
    for (let round = 0; round < 5 && !(Math.min(...added) < 50); round++) {
      const alone = await p99();
      const large = count(body, coding);
      const beside = await p99();
      await large;
      added.push(beside - alone);
    }
    assert.ok(Math.min(...added) < 50, `${added.map(Math.round)} ms`);
  });
}
