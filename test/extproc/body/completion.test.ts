import assert from "node:assert/strict";
import { test } from "node:test";
import { assertUnknown, completionIn } from "../support/readings.js";

const PATH = "/v1/completions";

function read(body: Record<string, unknown>) {
  const { texts, idCount, prompts } = completionIn(PATH, body);
  return { texts, idCount, prompts };
}

test("reads a prompt in all of its shapes", () => {
  assert.deepEqual(read({ prompt: "a" }), { texts: ["a"], idCount: 0, prompts: 1 });
  assert.deepEqual(read({ prompt: ["a", "b"] }), { texts: ["a", "b"], idCount: 0, prompts: 2 });
  assert.deepEqual(read({ prompt: [1, 2, 3] }), { texts: [], idCount: 3, prompts: 1 });
  assert.deepEqual(read({ prompt: [[1, 2], [3]] }), { texts: [], idCount: 3, prompts: 2 });
  assert.deepEqual(read({ prompt: ["a", [1]] }), { texts: ["a"], idCount: 1, prompts: 2 });
  assert.deepEqual(read({ prompt_token_ids: [1, 2] }), { texts: [], idCount: 2, prompts: 1 });
});

test("counts a suffix once for each prompt, and not for thousands", () => {
  assert.deepEqual(read({ prompt: ["a", "b"], suffix: "z" }).texts, ["a", "b", "z", "z"]);
  assertUnknown(PATH, [{ prompt: Array(65).fill("a"), suffix: "z" }]);
});

test("asks for an answer to each prompt; echo and logprobs ask for none more", () => {
  const ask = (more: Record<string, unknown>) => completionIn(PATH, { prompt: ["a", "b"], ...more }).output;
  assert.deepEqual(ask({ max_tokens: 10 }), { kind: "limited", answers: 2, tokensEach: 10 });
  assert.deepEqual(ask({ max_tokens: 10, best_of: 3, n: 2 }), {
    kind: "limited",
    answers: 6,
    tokensEach: 10,
  });
  assert.deepEqual(ask({ echo: true, logprobs: 5, max_tokens: 0 }), {
    kind: "limited",
    answers: 2,
    tokensEach: 0,
  });
});

test("knows no size for other shapes", () => {
  assertUnknown(
    PATH,
    [undefined, null, [], {}, 5, [1.5], [["a"]], [null]].map((prompt) => ({ prompt })),
  );
  assertUnknown(PATH, [
    { prompt: "a", suffix: 5 },
    { prompt: "a", prompt_embeds: "AAAA" },
  ]);
});
