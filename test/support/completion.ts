/** Bodies as an OpenAI-compatible server writes them. */

const created = 1_790_000_000;

export function completionJson(model: string, content: string): string {
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created,
    model,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 8, completion_tokens: 4, total_tokens: 12 },
  });
}

/** The role event that servers send before the first token. */
export function roleEvent(model: string): string {
  return chunkEvent(model, { role: "assistant", content: "" }, null);
}

export function tokenEvent(model: string, token: string): string {
  return chunkEvent(model, { content: token }, null);
}

export function finishEvent(model: string): string {
  return chunkEvent(model, {}, "stop");
}

export const doneEvent = "data: [DONE]\n\n";

function chunkEvent(model: string, delta: object, finishReason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created, model, choices };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
