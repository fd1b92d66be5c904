import assert from "node:assert/strict";
import { test } from "node:test";
import { plainChat } from "../../../extproc/body/chat.js";
import type { Prompt } from "../../../extproc/body/prompt.js";
import { parseConfig } from "../../../extproc/service-config.js";
import { TokenCounter } from "../../../extproc/tokens/counter.js";
import type { Family } from "../../../extproc/tokens/families.js";
import type { CountAsk, CountReply } from "../../../extproc/tokens/protocol.js";
import type { TokenLimits } from "../../../extproc/tokens/settings.js";
import { templateNamed } from "../../../extproc/tokens/template.js";

const DEFAULTS = parseConfig({}).tokens;
const NO_MEDIA = { images: 0, audio: 0 };

/** A tokenizer that answers when the test says so. */
class SlowVocabulary {
  readonly normalization = "none";
  started = 0;
  private readonly pending = new Map<string, (reply: CountReply) => void>();

  count(ask: CountAsk): Promise<CountReply> {
    this.started++;
    const text = ask.kind === "texts" ? ask.texts.join() : JSON.stringify(ask.chat);
    return new Promise((resolve) => this.pending.set(text, resolve));
  }

  finish(text: string, tokens: number): void {
    this.pending.get(text)?.({ tokens, isExact: true });
  }
}

function counterOf(vocabulary: Family["vocabulary"], limits: Partial<TokenLimits>): TokenCounter {
  const family = { name: "qwen", vocabulary, template: templateNamed("chatml"), isExact: true };
  return new TokenCounter(() => family, { ...DEFAULTS, ...limits });
}

function completion(text: string): Prompt {
  return { kind: "completion", completion: { texts: [text], idCount: 0, prompts: 1 } };
}

test("answers the upper bound when the time is over", async () => {
  const counter = counterOf(new SlowVocabulary(), { timeLimit: 5 });
  assert.deepEqual(await counter.count("m", completion("grüß"), NO_MEDIA), {
    tokens: 7,
    isExact: false,
    family: "qwen",
  });
});

test("never tokenizes a text above the limit", async () => {
  const vocabulary = new SlowVocabulary();
  const counter = counterOf(vocabulary, { maxTextBytes: 10 });
  assert.deepEqual(await counter.count("m", completion("x".repeat(11)), NO_MEDIA), {
    tokens: 12,
    isExact: false,
    family: "qwen",
  });
  assert.equal(vocabulary.started, 0);
});

test("keeps a large text's place until its native work has really ended", async () => {
  const vocabulary = new SlowVocabulary();
  const counter = counterOf(vocabulary, { largeTextBytes: 4, largeConcurrency: 1, timeLimit: 5 });
  const first = await counter.count("m", completion("large one"), NO_MEDIA);
  assert.equal(first.isExact, false);
  const second = await counter.count("m", completion("large two"), NO_MEDIA);
  assert.equal(second.isExact, false);
  assert.equal(vocabulary.started, 1, "the second never reached the tokenizer");
  vocabulary.finish("large one", 2);
  await new Promise(setImmediate);
  const third = counter.count("m", completion("large three"), NO_MEDIA);
  await new Promise(setImmediate);
  vocabulary.finish("large three", 3);
  assert.deepEqual(await third, { tokens: 3, isExact: true, family: "qwen" });
});

test("lets small texts pass while every place of the large is taken", async () => {
  const vocabulary = new SlowVocabulary();
  const counter = counterOf(vocabulary, { largeTextBytes: 4, largeConcurrency: 1, timeLimit: 1000 });
  const large = counter.count("m", completion("large one"), NO_MEDIA);
  const small = counter.count("m", completion("hi"), NO_MEDIA);
  await new Promise(setImmediate);
  assert.equal(vocabulary.started, 2);
  vocabulary.finish("hi", 1);
  assert.deepEqual(await small, { tokens: 1, isExact: true, family: "qwen" });
  vocabulary.finish("large one", 2);
  assert.deepEqual(await large, { tokens: 2, isExact: true, family: "qwen" });
});

test("answers the upper bound when the tokenizer fails", async () => {
  const broken = {
    normalization: "none" as const,
    count: () => Promise.reject(new Error("x")),
  };
  assert.deepEqual(await counterOf(broken, {}).count("m", completion("abc"), NO_MEDIA), {
    tokens: 4,
    isExact: false,
    family: "qwen",
  });
});

test("answers the upper bound while the vocabulary is not loaded", async () => {
  const absent = { normalization: "none" as const, count: async () => undefined };
  const counter = counterOf(absent, {});
  const chat = plainChat([{ role: "user", text: "grüß", toolCalls: [] }]);
  const prompt: Prompt = { kind: "chat", chat };
  const { tokens, isExact } = await counter.count("m", prompt, NO_MEDIA);
  assert.ok(!isExact && tokens > 6 && tokens < 200, String(tokens));
});

test("counts ids by their number, without a tokenizer", async () => {
  const counter = counterOf(new SlowVocabulary(), {});
  const prompt: Prompt = { kind: "completion", completion: { texts: [], idCount: 7, prompts: 2 } };
  assert.deepEqual(await counter.count("m", prompt, NO_MEDIA), { tokens: 7, isExact: true, family: "qwen" });
});
