// Hostile chats in the models' own templates, which are Jinja.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { readFacts } from "../../../extproc/body/facts.js";
import { ChatTemplate } from "../../../extproc/tokens/chat-template.js";
import { shippedFile } from "../../../extproc/tokens/template.js";
import { readTemplateFile } from "../../../extproc/tokens/template-file.js";
import { CHATS, REQUEST_WORDS } from "../corpus/requests.js";
import { sessionOf, toBuffers } from "../support/plain-session.js";
import { sizeClass } from "../support/told.js";
import type { Target } from "../target.js";

const MARKS = [
  "<|im_end|>",
  "</think>",
  "<tool_response>",
  "{{ x }}",
  "{% endfor %}",
  "{%",
  "}}",
  "__proto__",
];
const folder = dirname(shippedFile("README.md").file);
const templates = readdirSync(folder)
  .filter((name) => name.endsWith(".template.json"))
  .map((name) => new ChatTemplate(readTemplateFile(shippedFile(name).file)));

export const serviceChatTemplate: Target = {
  name: "service-chat-template",
  parsers: ["extproc/tokens/chat-template.ts", "extproc/tokens/template-file.ts"],
  seeds: toBuffers(CHATS),
  words: [
    ...REQUEST_WORDS,
    ...MARKS.map((mark) => JSON.stringify(mark).slice(1, -1)),
    '{"role":"user","content":"x"},',
  ],
  maxBytes: 1200,
  caseMs: 200,
  // A longer chat is counted without a template.
  linearBytes: 0,
  open: sessionOf((bytes, random) => {
    const prompt = readFacts("/v1/chat/completions", bytes, false)?.prompt;
    if (prompt?.kind !== "chat") return "";
    const at = random.next(templates.length);
    const { length } = JSON.stringify(prompt.chat);
    try {
      const { text, leftOut, hasCallIds } = (templates[at] as ChatTemplate).render(prompt.chat, length);
      assert.ok(text.length <= length * 4 + 131_072, "a text without a bound");
      return `${at},${sizeClass(text.length)},${leftOut.tools},${leftOut.calls},${hasCallIds}`;
    } catch (cause) {
      // Templates refuse chats: whoever asks counts them without one.
      assert.ok(cause instanceof Error && !(cause instanceof assert.AssertionError), String(cause));
      return `${at},${cause.message.slice(0, 20)}`;
    }
  }),
};
