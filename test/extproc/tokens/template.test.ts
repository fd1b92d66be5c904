import assert from "node:assert/strict";
import { test } from "node:test";
import { readBodyFacts } from "../../../extproc/body/facts.js";
import { parseConfig } from "../../../extproc/service-config.js";
import { FAMILY_NAMES } from "../../../extproc/tokens/catalog.js";
import { TokenCounter } from "../../../extproc/tokens/counter.js";
import { Families } from "../../../extproc/tokens/families.js";
import { storeForTest } from "../support/families.js";
import { readFixture } from "../support/fixtures.js";

type Body = Record<string, unknown>;
type Row = { chat: Body } & Record<string, number | null>;

const CHATS = readFixture<Row[]>("chats.json");
const LIMITS = { ...parseConfig({}).tokens, timeLimit: 10_000 };

/** One model name for each family, so that each is counted as an operator's own. */
const RAW = { tokenizers: FAMILY_NAMES.map((family) => ({ models: [`own-${family}`], family })) };
const CONFIG = parseConfig({ ...RAW, tokens: { preload: [...FAMILY_NAMES], maxVocabularies: 8 } });
const USER = "What's the weather in Zürich?";
const families = await Families.load(CONFIG, storeForTest());
const counter = new TokenCounter((name) => families.find(name), LIMITS);

async function count(model: string, body: Body) {
  const { prompt, media } = readBodyFacts("/v1/chat/completions", body);
  assert.ok(prompt);
  return counter.count(model, prompt, media);
}

/** How many of the recorded chats each family counts exactly: all that its makers' own code takes, tools included. */
const LEAST_EXACT: Record<string, number> = { llama3: 8, "deepseek-v3": 8, gemma3: 8, o200k: 8, cl100k: 8 };

for (const family of FAMILY_NAMES) {
  test(`counts chats of ${family} as its makers' own code does, or says that it does not`, async () => {
    let exact = 0;
    for (const { chat, ...recorded } of CHATS) {
      const { tokens, isExact } = await count(`own-${family}`, chat);
      const wanted = recorded[family] ?? null;
      // Servers refuse it, or nobody knows.
      if (wanted === null) continue;
      const shown = `${tokens} for ${wanted}, ${JSON.stringify(chat).slice(0, 300)}`;
      if (isExact) {
        exact++;
        assert.equal(tokens, wanted, shown);
      } else {
        assert.ok(tokens >= wanted, shown);
      }
    }
    assert.ok(exact >= (LEAST_EXACT[family] ?? 10), `${exact} exact of ${CHATS.length}`);
  });
}

test("is never above the bound that stands for a count", async () => {
  const unloaded = await Families.load(parseConfig({ ...RAW, tokens: { preload: [] } }), storeForTest());
  const bounds = new TokenCounter((name) => unloaded.find(name), LIMITS);
  for (const family of FAMILY_NAMES) {
    for (const { chat } of CHATS) {
      const { prompt, media } = readBodyFacts("/v1/chat/completions", chat);
      assert.ok(prompt);
      const bound = await bounds.count(`own-${family}`, prompt, media);
      const { tokens } = await counter.count(`own-${family}`, prompt, media);
      assert.ok(
        tokens <= bound.tokens,
        `${family}: ${tokens} above ${bound.tokens}, ${JSON.stringify(chat)}`,
      );
    }
  }
});

test("is not exact for OpenAI tools and calls, whose cost is only approximated", async () => {
  const priced = CHATS.filter(({ chat }) => "tools" in chat || JSON.stringify(chat).includes("tool_calls"));
  assert.ok(priced.length > 3);
  for (const { chat } of priced) {
    const { tokens, isExact } = await count("gpt-4o", chat);
    assert.ok(tokens > 10 && !isExact);
  }
});

test("is not exact for a role that templates do not know, or a template of the caller's", async () => {
  const messages = [{ role: "critic", content: "x" }];
  assert.equal((await count("qwen3-32b", { messages })).isExact, false);
  const custom = { messages: [{ role: "user", content: "x" }], continue_final_message: true };
  assert.equal((await count("qwen3-32b", custom)).isExact, false);
});

test("counts a chat that its template refuses, not exactly", async () => {
  const messages = [USER, USER].map((content) => ({ role: "user", content }));
  const { tokens, isExact } = await count("gemma-3-4b-it", { messages });
  assert.ok(!isExact && tokens > 10 && tokens < 60, String(tokens));
});

test("counts special tokens that users type as plain text, whatever role and place", async () => {
  const text = (mark: string) =>
    `Tell me what ${mark} means, and why a tokenizer may choke on it when a user types it.`;
  for (const family of FAMILY_NAMES) {
    for (const mark of [
      "<|im_start|>system",
      "<|im_end|>",
      "<|eot_id|>",
      "<|endoftext|>",
      "<|start|>",
      "<|channel|>",
    ]) {
      const chatWith = (content: string) => ({
        messages: [
          { role: "system", content },
          { role: "user", content },
        ],
      });
      const [withBars, without] = await Promise.all([
        count(`own-${family}`, chatWith(text(mark))),
        count(`own-${family}`, chatWith(text(mark).replaceAll("|", ""))),
      ]);
      const shown = `${family} ${mark}: ${withBars.tokens} against ${without.tokens}`;
      assert.ok(withBars.tokens >= without.tokens && withBars.tokens <= without.tokens * 1.2, shown);
    }
  }
});

test("adds a flat cost per picture and is not exact then", async () => {
  const text = { type: "text", text: "x" };
  const image = { type: "image_url", image_url: { url: "data:," } };
  const bare = await count("gpt-4o", { messages: [{ role: "user", content: [text] }] });
  const withImage = await count("gpt-4o", { messages: [{ role: "user", content: [text, image] }] });
  assert.deepEqual(withImage, { ...bare, tokens: bare.tokens + LIMITS.imageTokens, isExact: false });
});
