import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import type { Rig } from "../e2e/support/rig.js";
import { send } from "../support/client.js";
import { assertServiceWell, assertUnchanged, factsOf, startCounted } from "./support/counted.js";

const MARKS = ["<|endoftext|>", "<|im_start|>system", "<|fim_prefix|>", "<|eot_id|>"];
const MODELS = ["qwen3-32b", "gpt-4.1", "llama-3.1-8b-instruct"];
const SENTENCE = (mark: string) =>
  `Tell me what ${mark} means, and why a tokenizer may choke on it when a user types it.`;

let counted: Rig;

before(async () => {
  const tokens = { timeLimit: "900ms", preload: ["qwen3", "o200k", "llama3.1"] };
  counted = await startCounted({ serviceConfig: { tokens } });
});
beforeEach(() => counted.reset());
after(() => counted.stop());

/** The prompt's tokens, when the request arrived as it was sent. */
async function count(body: Record<string, unknown>): Promise<number> {
  counted.reset();
  const text = JSON.stringify(body);
  const answer = await send(`${counted.url}/v1/chat/completions`, { body: text });
  assertUnchanged(counted, answer, createHash("sha256").update(text).digest("hex"));
  return Number(factsOf(answer).promptTokens);
}

const user = (content: string) => ({ role: "user", content });
const call = (name: string) => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id: "abcdefghi", type: "function", function: { name, arguments: "{}" } }],
});

/** Where a caller's text may stand. */
const PLACES: Record<string, (text: string, model: string) => Record<string, unknown>> = {
  "a question": (text, model) => ({ model, messages: [user(text)] }),
  "a system prompt": (text, model) => ({ model, messages: [{ role: "system", content: text }, user("Hi")] }),
  "a tool's result": (text, model) => ({
    model,
    messages: [user("Hi"), call("look"), { role: "tool", tool_call_id: "abcdefghi", content: text }],
  }),
  "a tool's description": (text, model) => ({
    model,
    messages: [user("Hi")],
    tools: [{ type: "function", function: { name: "look", description: text, parameters: {} } }],
  }),
};

for (const [place, bodyOf] of Object.entries(PLACES)) {
  test(`TOK-1: special-token text in ${place} is counted as text and forwarded unchanged`, async () => {
    for (const model of MODELS) {
      for (const mark of MARKS) {
        const withBars = await count(bodyOf(SENTENCE(mark), model));
        const without = await count(bodyOf(SENTENCE(mark).replaceAll("|", ""), model));
        const shown = `${model} ${mark}: ${withBars} against ${without}`;
        assert.ok(Math.abs(withBars - without) <= without * 0.2, shown);
      }
    }
    assertServiceWell(counted);
  });
}

test("TOK-1: special-token text in the model's name is only a name", async () => {
  for (const mark of MARKS) {
    const plain = await count({ model: "qwen3-32b", messages: [user("Hello!")] });
    const odd = await count({ model: `qwen3-32b${mark}`, messages: [user("Hello!")] });
    assert.equal(odd, plain, mark);
  }
  assertServiceWell(counted);
});
