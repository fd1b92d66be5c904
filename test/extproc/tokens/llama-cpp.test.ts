import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { installRealModel } from "../../../demo/real/install.js";
import type { Service } from "../../../extproc/server.js";
import { Child } from "../../support/child.js";
import { freePort } from "../../support/ports.js";
import { findRepoRoot } from "../../support/repo-root.js";
import { type ServiceClient, startForTest } from "../support/client.js";
import { writeTokenizerFiles } from "../support/smollm2.js";

const MODEL = "smollm2";
const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });
const system = (content: string) => ({ role: "system", content });

const CODE = "def f(x):\n\treturn x ** 2  # square\n\nfor i in range(10):\n    print(f(i), 12345)\n";
const CHATS = {
  "a question": [user("Say hi")],
  "an empty question": [user("")],
  "a system prompt": [system("You are terse."), user("What is the weather in Zürich?")],
  "a history": [
    user("Hi"),
    assistant("Hello! How can I help?"),
    user("Tell a joke."),
    assistant("No."),
    user("Why?"),
  ],
  "a system prompt in the middle": [user("Hi"), system("Be kind."), user("Again")],
  "an answer that was begun": [user("Count to 3"), assistant("1, 2,"), user("go on")],
  code: [user(`Explain:\n\n\`\`\`py\n${CODE}\`\`\``)],
  "many scripts": [user("今天天气很好。 これは日本語。 한국어 مرحبا नमस्ते Привет שלום สวัสดี")],
  "emoji and marks": [user("👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽 e\u0301 a\u0323\u0301 \ufeffbom \u200b zero \u200d joiner")],
  "numbers and links": [user("1234567890 3.14159 0x1F 1e-9 https://example.com/a/b?c=d&e=%20f#g")],
  "blanks and line breaks": [user("   a\n\n\n\tb   \r\n  c    \n")],
  JSON: [user('{"id": 12345678901234567890, "list": [1, 2, 3], "nested": {"a": null, "b": "\\u00e9"}}')],
  "a long run": [user("a".repeat(1200))],
  "a long text": [
    system("Summarise."),
    user(`${CODE}The quick brown fox jumps over the lazy dog. `.repeat(12)),
  ],
} as const;

const root = findRepoRoot();
const folder = mkdtempSync(join(tmpdir(), "llm-breaker-"));
let llama: Child;
let url: string;
let service: Service;
let client: ServiceClient;

before(async () => {
  const { python, modelFile } = await installRealModel(root, () => {});
  const port = await freePort();
  const args = [join(root, "demo", "real", "server.py"), modelFile, String(port)];
  llama = new Child({ name: "the model server", program: python, args, cwd: root });
  url = `http://127.0.0.1:${port}`;
  const { file, templateFile } = writeTokenizerFiles(modelFile, folder);
  const tokenizers = [{ models: [MODEL], file, template: { file: templateFile } }];
  ({ service, client } = await startForTest({ tokenizers, tokens: { preload: [], timeLimit: "10s" } }));
  await llama.whenReady(async () => (await fetch(`${url}/health`)).ok, 30_000);
});

after(async () => {
  client?.close();
  await service?.close();
  await llama?.stop();
  rmSync(folder, { recursive: true });
});

async function ask<Reply>(path: string, body: unknown): Promise<Reply> {
  const answer = await fetch(url + path, { method: "POST", body: JSON.stringify(body) });
  assert.equal(answer.status, 200, await answer.clone().text());
  return (await answer.json()) as Reply;
}

for (const [name, messages] of Object.entries(CHATS)) {
  test(`counts ${name} as a real llama.cpp server does`, async () => {
    const body = { model: MODEL, messages, max_tokens: 1 };
    const { usage } = await ask<{ usage: { prompt_tokens: number } }>("/v1/chat/completions", body);
    const facts = await client.count("/v1/chat/completions", JSON.stringify(body));
    assert.deepEqual([facts.promptTokens, facts.exact], [usage.prompt_tokens, true]);
  });
}

test("counts bare texts as a real llama.cpp server tokenizes them", async () => {
  for (const [name, messages] of Object.entries(CHATS)) {
    const prompt = messages.map(({ content }) => content).join("\n");
    if (prompt === "") continue;
    const { tokens } = await ask<{ tokens: unknown[] }>("/tokenize", { content: prompt });
    const facts = await client.count("/v1/completions", JSON.stringify({ model: MODEL, prompt }));
    assert.deepEqual([facts.promptTokens, facts.exact], [tokens.length, true], name);
  }
});
