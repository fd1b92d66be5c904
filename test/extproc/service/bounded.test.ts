import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ServiceClient } from "../support/client.js";
import { FREE_PORTS, ServiceProcess } from "../support/process.js";

const CHAT = "/v1/chat/completions";
const chat = (content: string) =>
  JSON.stringify({ model: "qwen3-32b", messages: [{ role: "user", content }] });

/** What counting may take at most: its time limit of 150 ms and what is left of a message timeout of 500 ms. */
const ANSWER_MS = 500;
const EXTRA_MS = 50;

/** Other processes of the machine can only make a run slower, so the best of some runs is what the service does. */
const RUNS = 5;

// A process of its own: the client's work must not be taken for the service's.
let service: ServiceProcess;
let client: ServiceClient;
before(async () => {
  service = new ServiceProcess(FREE_PORTS);
  client = new ServiceClient((await service.line("started")).grpcAddress ?? "");
  await client.count(CHAT, chat("warm up"));
});
after(async () => {
  client.close();
  service.child.kill("SIGTERM");
  await service.exit();
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
    const extras: number[] = [];
    const slowest: number[] = [];
    for (let run = 0; run < RUNS; run++) {
      const alone = await smallOnes();
      const large = [timed(content), timed(content), timed(content)];
      extras.push((await smallOnes()) - alone);
      const answers = await Promise.all(large);
      slowest.push(Math.max(...answers.map(({ ms }) => ms)));
      for (const { facts } of answers) {
        assert.equal(facts.canary, false);
        assert.ok(Number(facts.promptTokens) > 256);
      }
    }
    assert.ok(Math.min(...slowest) < ANSWER_MS, `answers of ${slowest.map(Math.round)} ms`);
    assert.ok(Math.min(...extras) < EXTRA_MS, `${extras.map(Math.round)} ms more`);
    assert.equal(service.child.exitCode, null);
  });
}

test("gives a bound that says so for a text it does not tokenize", async () => {
  const { facts } = await timed("a".repeat(1_000_000));
  assert.equal(facts.exact, false);
  assert.ok(Number(facts.promptTokens) >= 1_000_000);
});
