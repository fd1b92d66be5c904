import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readBodyFacts, readFacts } from "../../../extproc/body/facts.js";
import { boundPrompt } from "../../../extproc/body/large-prompt.js";

const PATHS = [
  "/v1/chat/completions",
  "/openai/deployments/x/chat/completions",
  "/v1/completions",
  "/v1/embeddings",
  "/v1/responses",
  "/v1/messages",
  "/v1/messages/count_tokens",
  "/generate",
  "/generate_stream",
  "/v2/models/x/generate",
  "/",
];

/** Every field that any dialect reads, so that arbitrary values meet its code. */
const FIELDS =
  "messages role content type text name model stream tools functions function arguments tool_calls function_call " +
  "custom input instructions output summary prompt prompt_token_ids suffix inputs parameters sampling_params " +
  "text_input input_ids system source data title context thinking reasoning audio refusal response_format " +
  "json_schema schema chat_template_kwargs modalities n max_tokens image image_data __proto__ constructor format";
const KINDS =
  "text image_url input_audio refusal thinking message function function_call function_call_output reasoning " +
  "tool_use tool_result document search_result content base64 custom";

const field = fc.constantFrom(...FIELDS.split(" "));
const leaf = fc.oneof(
  fc.constantFrom("user", "assistant", "", null, true, 0, -1, 7, 1e300, 1.5),
  fc.constantFrom(...KINDS.split(" ")),
  fc.string(),
);
const { body } = fc.letrec<{ body: unknown; value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 6 }, leaf, tie("body"), fc.array(tie("value"), { maxLength: 4 })),
  body: fc.dictionary(field, tie("value"), { maxKeys: 6 }),
}));

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

test("gives facts for every body of any shape, and throws for none", () => {
  fc.assert(
    fc.property(fc.constantFrom(...PATHS), body, (path, value) => {
      const facts = readBodyFacts(path, value as Record<string, unknown>);
      assert.ok(isCount(facts.media.images) && isCount(facts.media.audio));
      assert.ok(facts.output.kind === "odd" || isCount(facts.output.answers));
      if (facts.prompt === undefined) return;
      const bounded = boundPrompt(facts.prompt, 0);
      if (bounded.kind === "large") assert.ok(isCount(bounded.large.bytes) && isCount(bounded.large.idCount));
      assert.equal(boundPrompt(facts.prompt, Number.POSITIVE_INFINITY), facts.prompt);
    }),
    { numRuns: 5000 },
  );
});

test("gives facts or nothing for every bytes", () => {
  fc.assert(
    fc.property(fc.constantFrom(...PATHS), fc.uint8Array(), fc.boolean(), (path, bytes, isDecoded) => {
      readFacts(path, Buffer.from(bytes), isDecoded);
    }),
    { numRuns: 1000 },
  );
});

test("knows no size at endpoints of other kinds", () => {
  const given = {
    model: "m",
    stream: true,
    messages: [{ role: "user", content: "x" }],
    prompt: "x",
    input: "x",
  };
  for (const path of [
    "/v1/rerank",
    "/v1/score",
    "/v2/models/x/infer",
    "/v1/audio/transcriptions",
    "/v1/images/generations",
    "/v1/models",
    "/v1/responses/resp_1/cancel",
    "/api/generate",
    "/api/chat",
    "/tokenize",
    "",
  ]) {
    const { prompt, ...facts } = readBodyFacts(path, given);
    assert.equal(prompt, undefined, path);
    assert.deepEqual(facts, {
      model: "m",
      stream: true,
      media: { images: 0, audio: 0 },
      output: { kind: "odd" },
    });
  }
});

test("bounds a model's name", () => {
  assert.equal(readBodyFacts("/", { model: "m".repeat(1000) }).model?.length, 256);
});
