import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { plainChat } from "../../../extproc/body/chat.js";
import type { CountAsk, SourceFile } from "../../../extproc/tokens/protocol.js";
import { VocabularyStore } from "../../../extproc/tokens/store.js";
import { shippedFile } from "../../../extproc/tokens/template.js";
import type { VocabularyThread } from "../../../extproc/tokens/vocabulary-thread.js";
import { waitFor } from "../../support/wait-for.js";
import { storeForTest } from "../support/families.js";

const ASK: CountAsk = { kind: "texts", texts: ["Hello, world!"], withMarks: false };
const source = (file: string): SourceFile => ({ file, version: "1" });

/** Threads that are loaded when the test says so. */
class FakeThreads {
  readonly started: string[] = [];
  readonly closed: string[] = [];
  now = 0;
  readonly store = new VocabularyStore(
    { info() {}, warn() {} },
    (file, onExit) => this.start(file, onExit),
    () => this.now,
  );
  private readonly exits = new Map<string, () => void>();

  exit(file: string): void {
    this.exits.get(file)?.();
  }

  private start(file: string, onExit: () => void): VocabularyThread {
    this.started.push(file);
    this.exits.set(file, onExit);
    const thread = {
      ready: Promise.resolve("none"),
      isReady: true,
      isIdle: true,
      count: async () => ({ tokens: this.started.length, isExact: true }),
      close: async () => void this.closed.push(file),
    };
    return thread as unknown as VocabularyThread;
  }
}

test("knows nothing of a vocabulary that is not loaded, and loads it", async () => {
  const threads = new FakeThreads();
  assert.equal(await threads.store.count(source("a"), ASK), undefined);
  assert.deepEqual(threads.started, ["a"]);
  assert.deepEqual(await threads.store.count(source("a"), ASK), { tokens: 1, isExact: true });
});

test("drops the least recently used one when there are too many", async () => {
  const threads = new FakeThreads();
  for (const file of ["a", "b", "c"]) await threads.store.count(source(file), ASK);
  threads.now = 10_000;
  await threads.store.count(source("a"), ASK);
  threads.now = 20_000;
  await threads.store.count(source("d"), ASK);
  assert.deepEqual([threads.started, threads.closed], [["a", "b", "c", "d"], ["b"]]);
});

test("loads none for which a busy one would have to go", async () => {
  const threads = new FakeThreads();
  for (const file of ["a", "b", "c", "d", "d"]) {
    assert.equal(await threads.store.count(source(file), ASK), undefined);
  }
  assert.deepEqual([threads.started, threads.closed], [["a", "b", "c"], []]);
});

test("waits longer each time before it starts a thread that ends", async () => {
  const threads = new FakeThreads();
  const pauses = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000];
  for (const pause of pauses) {
    await threads.store.count(source("a"), ASK);
    const started = threads.started.length;
    threads.exit("a");
    threads.now += pause - 1;
    await threads.store.count(source("a"), ASK);
    assert.equal(threads.started.length, started, `${pause}`);
    threads.now += 1;
  }
});

test("reads a file anew when it has changed", async () => {
  const threads = new FakeThreads();
  await threads.store.load(source("a"));
  await threads.store.load(source("a"));
  await threads.store.load({ file: "a", version: "2" });
  assert.deepEqual(threads.started, ["a", "a"]);
});

const folder = mkdtempSync(join(tmpdir(), "llm-breaker-"));
after(() => rmSync(folder, { recursive: true }));
const real = storeForTest();
const CL100K = shippedFile("cl100k.json.gz");

test("counts in a real thread, and says what is wrong with a file", async () => {
  await real.load(CL100K);
  assert.deepEqual(await real.count(CL100K, ASK), { tokens: 4, isExact: true });
  await assert.rejects(real.load(source(join(folder, "none.json"))), /ENOENT/);
  const file = join(folder, "empty.json");
  writeFileSync(file, "{}");
  await assert.rejects(real.load(source(file)), /it has no model/);
});

test("has no answer for what can't be counted, and goes on", async () => {
  await real.load(CL100K);
  const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
  const chat = { ...plainChat([]), tools: [deep] };
  const template = shippedFile("qwen3.template.json");
  assert.equal(await real.count(CL100K, { kind: "chat", chat, template }), undefined);
  assert.deepEqual(await real.count(CL100K, ASK), { tokens: 4, isExact: true });
});

test("does not count what nobody waits for any more", async () => {
  await real.load(CL100K);
  assert.equal(await real.count(CL100K, ASK, Date.now() - 1), undefined);
  assert.deepEqual(await real.count(CL100K, ASK, Date.now() + 10_000), { tokens: 4, isExact: true });
});

test("ends a thread whose template never ends, and starts another", { timeout: 30_000 }, async () => {
  const file = join(folder, "endless.json");
  const endless = "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}";
  writeFileSync(file, JSON.stringify({ chat_template: `{% if messages|length > 2 %}${endless}{% endif %}` }));
  const message = { role: "user", text: "x", toolCalls: [] };
  const chat = plainChat([message, message, message]);
  await real.load(CL100K);
  const hung = real.count(CL100K, { kind: "chat", chat, template: source(file) });
  assert.equal(await hung, undefined);
  await waitFor(async () => (await real.count(CL100K, ASK)) !== undefined, 15_000);
});
