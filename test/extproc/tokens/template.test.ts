import assert from "node:assert/strict";
import { test } from "node:test";
import { readBodyFacts } from "../../../extproc/body/facts.js";
import { parseConfig } from "../../../extproc/service-config.js";
import { TokenCounter } from "../../../extproc/tokens/counter.js";
import { shippedFamilies } from "../support/families.js";
import { readFixture } from "../support/fixtures.js";

type Body = Record<string, unknown>;
const CHATS = readFixture<{ chat: Body; qwen3: number; o200k: number | null }[]>("chats.json");
const LIMITS = { ...parseConfig({}).tokens, timeLimit: 10_000 };

async function count(model: string, body: Body) {
  const counter = new TokenCounter((name) => shippedFamilies().find(name), LIMITS);
  const { prompt, media } = readBodyFacts("/v1/chat/completions", body);
  assert.ok(prompt);
  return counter.count(model, prompt, media);
}

test("counts Qwen3 chats as its own template renders them: turns, tools, calls, results, thoughts", async () => {
  for (const { chat, qwen3 } of CHATS) {
    const { tokens } = await count("Qwen/Qwen3-32B", chat);
    assert.equal(tokens, qwen3, JSON.stringify(chat).slice(0, 300));
  }
});

test("is exact for every recorded Qwen3 chat but those whose text imitates a mark", async () => {
  for (const { chat } of CHATS) {
    const imitates = JSON.stringify(chat).includes("</think>");
    const { isExact } = await count("qwen3-32b", chat);
    if (!imitates) assert.ok(isExact, JSON.stringify(chat));
  }
});

test("counts OpenAI chats by the documented rule", async () => {
  const recorded = CHATS.filter(({ o200k }) => o200k !== null);
  assert.ok(recorded.length >= 10);
  for (const { chat, o200k } of recorded) {
    assert.deepEqual(await count("gpt-4o-mini", chat), { tokens: o200k, isExact: true });
  }
});

test("is not exact for OpenAI tools and calls, whose cost is only approximated", async () => {
  for (const { chat } of CHATS.filter(({ o200k }) => o200k === null)) {
    const { tokens, isExact } = await count("gpt-4o", chat);
    assert.ok(tokens > 10);
    if ("tools" in chat || JSON.stringify(chat).includes("tool_calls")) assert.equal(isExact, false);
  }
});

test("is not exact for a role that the template does not know, or a template that the caller changes", async () => {
  const messages = [{ role: "developer", content: "x" }];
  assert.equal((await count("qwen3-32b", { messages })).isExact, false);
  const custom = { messages: [{ role: "user", content: "x" }], continue_final_message: true };
  assert.equal((await count("qwen3-32b", custom)).isExact, false);
});

test("adds a flat cost per picture and is not exact then", async () => {
  const text = { type: "text", text: "x" };
  const image = { type: "image_url", image_url: { url: "data:," } };
  const bare = await count("gpt-4o", { messages: [{ role: "user", content: [text] }] });
  const withImage = await count("gpt-4o", { messages: [{ role: "user", content: [text, image] }] });
  assert.deepEqual(withImage, { tokens: bare.tokens + LIMITS.imageTokens, isExact: false });
});
