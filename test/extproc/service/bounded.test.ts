import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Service } from "../../../extproc/server.js";
import { type ServiceClient, startForTest } from "../support/client.js";

const CHAT = "/v1/chat/completions";
const chat = (content: string) =>
  JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content }] });

/** What counting may take at most: its time limit, and generous room for a noisy machine. */
const ANSWER_MS = 400;
const EXTRA_MS = 50;

let service: Service;
let client: ServiceClient;
before(async () => {
  ({ service, client } = await startForTest());
  await client.count(CHAT, chat("warm up"));
});
after(async () => {
  client.close();
  await service.close();
});

async function timed(content: string): Promise<{ ms: number; facts: Record<string, unknown> }> {
  const startedAt = performance.now();
  const facts = await client.count(CHAT, chat(content));
  return { ms: performance.now() - startedAt, facts };
}

/** Ten small requests, one after another; the time of the slowest but one, since one outlier is the machine's. */
async function smallOnes(): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < 10; index++) times.push((await timed("Hello!")).ms);
  return times.sort((a, b) => a - b)[8] ?? 0;
}

const RANDOM = Array.from(
  { length: 200_000 },
  (_, index) => "abcdefghijklmnopqrstuvwxyz"[(index * 7919 + (index >> 3)) % 26],
).join("");

for (const [name, content] of [
  ["a megabyte of a", "a".repeat(1_000_000)],
  ["a megabyte of carets", "^".repeat(1_000_000)],
  ["100 kB of a", "a".repeat(100_000)],
  ["250 kB of carets", "^".repeat(250_000)],
  ["200 kB of letters without a break", RANDOM],
  ["100 kB of blanks", " ".repeat(100_000)],
  ["250 kB of combining marks", "\u0301\u0323".repeat(62_000)],
] as const) {
  test(`answers ${name} in time, and small requests beside it see less than ${EXTRA_MS} ms more`, async () => {
    const alone = await smallOnes();
    const large = [timed(content), timed(content), timed(content)];
    const beside = await smallOnes();
    for (const { ms, facts } of await Promise.all(large)) {
      assert.ok(ms < ANSWER_MS, `${ms} ms`);
      assert.equal(facts.canary, false);
      assert.ok(Number(facts.promptTokens) > 256);
    }
    assert.ok(beside < alone + EXTRA_MS, `${beside} ms beside, ${alone} ms alone`);
  });
}

test("gives a bound that says so for a text it does not tokenize", async () => {
  const { facts } = await timed("a".repeat(1_000_000));
  assert.equal(facts.exact, false);
  assert.ok(Number(facts.promptTokens) >= 1_000_000);
});
