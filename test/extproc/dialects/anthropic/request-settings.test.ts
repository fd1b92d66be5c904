import assert from "node:assert/strict";
import { test } from "node:test";
import { call, hi, translate } from "./chats.js";

const hiTurn = { role: "user", content: [{ type: "text", text: "hi" }] };

const tool = { type: "function", function: { name: "f", description: "does", strict: true } };

test("translates tools and how they are chosen", () => {
  assert.deepEqual(translate({ tools: [tool, { type: "web_search" }, { type: "function" }] }).tools, [
    { name: "f", description: "does", input_schema: { type: "object" } },
  ]);
  for (const [given, wanted] of [
    ["auto", { type: "auto" }],
    ["required", { type: "any" }],
    ["none", { type: "none" }],
    [
      { type: "function", function: { name: "f" } },
      { type: "tool", name: "f" },
    ],
    [undefined, undefined],
    [{ type: "allowed_tools" }, undefined],
  ]) {
    assert.deepEqual(translate({ tools: [tool], tool_choice: given }).tool_choice, wanted);
  }
  const alone = { tools: [tool], parallel_tool_calls: false };
  assert.deepEqual(translate(alone).tool_choice, { type: "auto", disable_parallel_tool_use: true });
  assert.deepEqual(translate({ ...alone, tool_choice: "required" }).tool_choice, {
    type: "any",
    disable_parallel_tool_use: true,
  });
  assert.deepEqual(translate({ ...alone, tool_choice: "none" }).tool_choice, { type: "none" });
  assert.equal(translate({ tool_choice: "auto", parallel_tool_calls: false }).tool_choice, undefined);
});

test("translates settings, and leaves out those without a counterpart", () => {
  const settings = translate({
    model: "m",
    temperature: 1.7,
    top_p: 0.5,
    top_k: 40,
    stop: ["END", " ", 7],
    stream: true,
    user: "u-1",
    n: 3,
    seed: 1,
    logprobs: true,
    logit_bias: {},
    presence_penalty: 1,
    stream_options: { include_usage: true },
    response_format: { type: "json_object" },
    store: true,
  });
  assert.deepEqual(settings, {
    model: "m",
    max_tokens: 4096,
    messages: [hiTurn],
    temperature: 1,
    top_k: 40,
    stop_sequences: ["END"],
    stream: true,
    metadata: { user_id: "u-1" },
  });
  assert.deepEqual(translate({ stop: "END" }).stop_sequences, ["END"]);
  assert.equal(translate({ top_p: 0.5 }).top_p, 0.5);
  assert.equal(translate({ temperature: -1 }).temperature, 0);
});

test("lets the model think as hard as was asked, where it may", () => {
  const thinking = (chat: Record<string, unknown>) => translate({ max_tokens: 40_000, ...chat }).thinking;
  assert.deepEqual(thinking({ reasoning_effort: "low" }), { type: "enabled", budget_tokens: 1024 });
  assert.deepEqual(thinking({ reasoning_effort: "high" }), { type: "enabled", budget_tokens: 16_384 });
  assert.deepEqual(thinking({ reasoning_effort: "high", max_tokens: 4000 }), {
    type: "enabled",
    budget_tokens: 2000,
  });
  assert.equal(thinking({ reasoning_effort: "high", max_tokens: 2000 }), undefined);
  assert.equal(thinking({ reasoning_effort: "minimal" }), undefined);
  assert.equal(thinking({ reasoning_effort: "high", tools: [tool], tool_choice: "required" }), undefined);
  const called = { role: "assistant", tool_calls: [call("1", "f", "{}")] };
  assert.equal(thinking({ reasoning_effort: "high", messages: [hi, called] }), undefined);
  assert.equal(
    translate({ reasoning_effort: "low", max_tokens: 9000, temperature: 0.5 }).temperature,
    undefined,
  );
});
