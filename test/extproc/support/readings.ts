import assert from "node:assert/strict";
import type { Chat, Media } from "../../../extproc/body/chat.js";
import type { CompletionPrompt } from "../../../extproc/body/completion.js";
import { readBodyFacts } from "../../../extproc/body/facts.js";
import type { OutputAsk } from "../../../extproc/body/output-ask.js";

type Body = Record<string, unknown>;

/** The chat that a body is read as; fails the test when it is none. */
export function chatIn(path: string, body: Body): { chat: Chat; media: Media; output: OutputAsk } {
  const { prompt, media, output } = readBodyFacts(path, body);
  assert.ok(prompt?.kind === "chat", JSON.stringify(body).slice(0, 200));
  return { chat: prompt.chat, media, output };
}

export function completionIn(
  path: string,
  body: Body,
): CompletionPrompt & { media: Media; output: OutputAsk } {
  const { prompt, media, output } = readBodyFacts(path, body);
  assert.ok(prompt?.kind === "completion", JSON.stringify(body).slice(0, 200));
  return { ...prompt.completion, media, output };
}

/** Each body passes and its size is unknown. */
export function assertUnknown(path: string, bodies: readonly Body[]): void {
  for (const body of bodies) {
    const facts = readBodyFacts(path, body);
    assert.equal(facts.prompt, undefined, JSON.stringify(body).slice(0, 200));
    assert.deepEqual(facts.output, { kind: "odd" });
  }
}
