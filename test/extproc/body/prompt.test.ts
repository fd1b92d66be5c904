import assert from "node:assert/strict";
import { test } from "node:test";
import { readBodyFacts } from "../../../extproc/body/facts.js";

const CHAT = "/v1/chat/completions";
const COMPLETION = "/v1/completions";
const user = (content: unknown) => ({ messages: [{ role: "user", content }] });

test("joins text parts and counts pictures and sounds without their bytes", () => {
  const facts = readBodyFacts(
    CHAT,
    user([
      { type: "text", text: "What" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(1000)}` } },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
      { type: "text", text: "is it?" },
    ]),
  );
  assert.deepEqual(facts.media, { images: 1, audio: 1 });
  assert.equal(facts.prompt?.kind === "chat" && facts.prompt.chat.messages[0]?.text, "What\nis it?");
});

test("counts a spoken answer as a sound", () => {
  assert.equal(readBodyFacts(CHAT, { ...user("x"), modalities: ["text", "audio"] }).media.audio, 1);
});

test("takes null content and reads tool calls of both generations", () => {
  const { prompt } = readBodyFacts(CHAT, {
    messages: [
      { role: "assistant", content: null, tool_calls: [{ function: { name: "f", arguments: "{}" } }] },
      { role: "assistant", function_call: { name: "g", arguments: "{}" } },
    ],
  });
  const calls = prompt?.kind === "chat" ? prompt.chat.messages.flatMap((message) => message.toolCalls) : [];
  assert.deepEqual(
    calls.map(({ name }) => name),
    ["f", "g"],
  );
});

test("knows no size for chat shapes it does not understand", () => {
  const odd = [{}, { messages: [] }, { messages: "x" }, { messages: [1] }, { messages: [{}] }, user(7)];
  const more = [user([{ type: "hologram" }]), user([null]), { ...user("x"), tools: {} }];
  for (const body of [...odd, ...more])
    assert.equal(readBodyFacts(CHAT, body).prompt, undefined, JSON.stringify(body));
});

test("reads a completion's prompt in all of its shapes", () => {
  const read = (body: Record<string, unknown>) => {
    const { prompt } = readBodyFacts(COMPLETION, body);
    return prompt?.kind === "completion" ? prompt.completion : undefined;
  };
  assert.deepEqual(read({ prompt: "a" }), { texts: ["a"], idCount: 0, prompts: 1 });
  assert.deepEqual(read({ prompt: ["a", "b"] }), { texts: ["a", "b"], idCount: 0, prompts: 2 });
  assert.deepEqual(read({ prompt: [1, 2, 3] }), { texts: [], idCount: 3, prompts: 1 });
  assert.deepEqual(read({ prompt: [[1, 2], [3]] }), { texts: [], idCount: 3, prompts: 2 });
  assert.deepEqual(read({ prompt: ["a", [1]] }), { texts: ["a"], idCount: 1, prompts: 2 });
  assert.deepEqual(read({ prompt_token_ids: [1, 2] }), { texts: [], idCount: 2, prompts: 1 });
  assert.deepEqual(read({ prompt: "a", suffix: "z" }), { texts: ["a", "z"], idCount: 0, prompts: 1 });
  for (const prompt of [undefined, [], {}, 5, [1.5], [["a"]], [null]])
    assert.equal(read({ prompt }), undefined);
});

test("reads what output is asked for, per answer", () => {
  const ask = (body: Record<string, unknown>) =>
    readBodyFacts(COMPLETION, { prompt: ["a", "b"], ...body }).output;
  assert.deepEqual(ask({ max_tokens: 10 }), { kind: "limited", answers: 2, tokensEach: 10 });
  assert.deepEqual(ask({ max_tokens: 10, max_completion_tokens: 20 }), {
    kind: "limited",
    answers: 2,
    tokensEach: 20,
  });
  assert.deepEqual(ask({ n: 3, best_of: 5 }), { kind: "unlimited", answers: 10 });
  assert.deepEqual(ask({ max_tokens: null }), { kind: "unlimited", answers: 2 });
  assert.deepEqual(ask({ max_tokens: -1 }), { kind: "unlimited", answers: 2 });
  for (const body of [
    { max_tokens: "10" },
    { max_tokens: 1.5 },
    { n: 0 },
    { n: "2" },
    { max_tokens: 1e300 },
  ]) {
    assert.deepEqual(ask(body), { kind: "odd" });
  }
});
