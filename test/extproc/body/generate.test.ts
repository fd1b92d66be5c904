import assert from "node:assert/strict";
import { test } from "node:test";
import { readBodyFacts } from "../../../extproc/body/facts.js";
import { assertUnknown, completionIn } from "../support/readings.js";

const limited = (tokensEach: number, answers = 1) => ({ kind: "limited", answers, tokensEach });

test("reads each engine's prompt and the limit where that engine has it", () => {
  for (const [path, body, output] of [
    ["/generate", { inputs: "a", parameters: { max_new_tokens: 5 } }, limited(5)],
    ["/generate_stream", { inputs: "a", parameters: { max_new_tokens: 5, best_of: 2 } }, limited(5, 2)],
    ["/", { inputs: "a", stream: true }, { kind: "unlimited", answers: 1 }],
    ["/generate", { prompt: "a", max_tokens: 6, n: 3 }, limited(6, 3)],
    ["/generate", { text: "a", sampling_params: { max_new_tokens: 7 } }, limited(7)],
    ["/v2/models/m/generate", { text_input: "a", max_tokens: 8 }, limited(8)],
    [
      "/v2/models/m/versions/1/generate_stream",
      { text_input: "a", parameters: { max_tokens: 9 } },
      limited(9),
    ],
  ] as const) {
    const read = completionIn(path, body);
    assert.deepEqual([read.texts, read.output], [["a"], output], path);
  }
});

test("reads SGLang's batches of texts and of ids, with a limit each", () => {
  const sampling_params = [{ max_new_tokens: 5 }, { max_new_tokens: 50 }];
  assert.deepEqual(completionIn("/generate", { text: ["a", "b"], sampling_params }).output, limited(50, 2));
  assert.equal(completionIn("/generate", { input_ids: [[1, 2], [3]] }).idCount, 3);
});

test("counts pictures and sounds, in fields of their own or in TGI's text", () => {
  const { media } = completionIn("/generate", { text: "a", image_data: ["A", "B"], audio_data: "C" });
  assert.deepEqual(media, { images: 2, audio: 1 });
  const inputs = `![](data:image/png;base64,${"A".repeat(1000)})what is it? ![a](https://x/y.png)`;
  const tgi = completionIn("/generate", { inputs });
  assert.deepEqual([tgi.texts, tgi.media.images], [["what is it? "], 2]);
});

test("streams where the path says so", () => {
  assert.ok(readBodyFacts("/generate_stream", { inputs: "a" }).stream);
  assert.ok(!readBodyFacts("/generate", { inputs: "a" }).stream);
});

test("takes Triton's model and Azure's deployment from the path when the body has none", () => {
  assert.equal(readBodyFacts("/v2/models/m/generate", { text_input: "a" }).model, "m");
  assert.equal(readBodyFacts("/openai/deployments/d/chat/completions", {}).model, "d");
  assert.equal(readBodyFacts("/openai/deployments/d/chat/completions", { model: "b" }).model, "b");
});

test("knows no size for none, two or odd prompts, tensors, and parameters in a text", () => {
  assertUnknown("/generate", [
    {},
    { inputs: "a", prompt: "b" },
    { inputs: 5 },
    { text: "a", input_embeds: [[1]] },
    { text_input: "a", sampling_parameters: '{"max_tokens":5}' },
    { text: "a", sampling_params: ["x"] },
    { text: ["a"], sampling_params: Array(300).fill({}) },
    { prompt: "a", multi_modal_data: {} },
  ]);
});
