const CHAT = "/v1/chat/completions";
const COMPLETIONS = "/v1/completions";
const IMAGE_TOKENS = 765;
const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(1_000_000)}` } };
const sound = { type: "input_audio", input_audio: { data: "A".repeat(100_000), format: "wav" } };
const user = (content: unknown) => ({ model: "qwen3-32b", messages: [{ role: "user", content }] });

/** A body with its endpoint; `tokens` is a number, a bound that it stays below, or undefined for an unknown size. */
export type Shape = [path: string, body: unknown, tokens: number | { below: number } | undefined];

export const SHAPES: Record<string, Shape> = {
  "text and a picture of 1 MB": [
    CHAT,
    user([{ type: "text", text: "What is it?" }, picture]),
    { below: IMAGE_TOKENS + 50 },
  ],
  "a sound": [CHAT, user([sound]), { below: 400 }],
  "a prompt": [COMPLETIONS, { model: "qwen3-8b", prompt: "Hello!" }, 2],
  "a list of prompts": [COMPLETIONS, { model: "qwen3-8b", prompt: ["Hello!", "Hello!"] }, 4],
  "a list of ids": [COMPLETIONS, { model: "qwen3-8b", prompt: [1, 2, 3] }, 3],
  "lists of ids": [COMPLETIONS, { model: "qwen3-8b", prompt: [[1, 2], [3]] }, 3],
  prompt_token_ids: [COMPLETIONS, { model: "qwen3-8b", prompt_token_ids: [1, 2] }, 2],
  "2,000 inputs": ["/v1/embeddings", { model: "qwen3-8b", input: Array(2000).fill("Hello!") }, 4000],
  items: ["/v1/responses", { model: "qwen3-32b", input: [{ role: "user", content: "Hello!" }] }, 10],
  "a message": ["/v1/messages", { ...user("Hello!"), max_tokens: 5 }, 10],
  "TGI's inputs": ["/generate", { inputs: "Hello!", parameters: { max_new_tokens: 5 } }, { below: 10 }],
  "Triton's text_input": ["/v2/models/qwen3-4b/generate", { text_input: "Hello!", max_tokens: 5 }, 2],
  "a stored response": ["/v1/responses", { input: "Hello!", previous_response_id: "r" }, undefined],
  "a file": [CHAT, user([{ type: "file", file: { file_id: "f" } }]), undefined],
  "documents to rank": ["/v1/rerank", { query: "Hello!", documents: ["Hello!"] }, undefined],
  tensors: ["/v2/models/m/infer", { inputs: [{ name: "a", data: [1] }] }, undefined],
  "no messages": [CHAT, { model: "m", messages: [] }, undefined],
  "null content": [CHAT, user(null), { below: 20 }],
  "numbers for content": [CHAT, user(7), undefined],
  "an array": [CHAT, [user("Hello!")], undefined],
  "no JSON": [CHAT, "{{{", undefined],
};

export const toText = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body));
