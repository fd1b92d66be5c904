import type { CompleteAnswer } from "./answer.js";
import type { Ask } from "./ask.js";
import { DONE, event } from "./sse.js";

/** OpenAI chat completions: `chat.completion`, or `chat.completion.chunk` events up to `[DONE]`. */
export function writeChat(answer: CompleteAnswer, ask: Ask, id: string, createdSeconds: number): string {
  const head = { id: `chatcmpl-${id}`, created: createdSeconds, model: answer.model };
  const toolCalls = answer.toolCalls.map(({ id: callId, name, arguments: args }) => ({
    id: callId,
    type: "function",
    function: { name, arguments: args },
  }));
  const thought = answer.reasoning === "" ? {} : { reasoning_content: answer.reasoning };
  if (!ask.stream) {
    const content = answer.text === "" && toolCalls.length > 0 ? null : answer.text;
    const message = {
      role: "assistant",
      content,
      refusal: null,
      ...thought,
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: answer.finish }];
    return JSON.stringify({ ...head, object: "chat.completion", choices, usage: usageOf(answer) });
  }
  const chunk = (delta: object, finish: string | null = null) =>
    event({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  const events = [chunk({ role: "assistant", content: "" })];
  if (answer.reasoning !== "") events.push(chunk(thought));
  if (answer.text !== "") events.push(chunk({ content: answer.text }));
  for (const [index, call] of toolCalls.entries()) events.push(chunk({ tool_calls: [{ index, ...call }] }));
  events.push(chunk({}, answer.finish));
  if (ask.includeUsage)
    events.push(event({ ...head, object: "chat.completion.chunk", choices: [], usage: usageOf(answer) }));
  return events.join("") + DONE;
}

/** The older text completions. */
export function writeCompletion(
  answer: CompleteAnswer,
  ask: Ask,
  id: string,
  createdSeconds: number,
): string {
  const head = { id: `cmpl-${id}`, object: "text_completion", created: createdSeconds, model: answer.model };
  const choice = (text: string, finish: string | null) => [
    { index: 0, text, logprobs: null, finish_reason: finish },
  ];
  if (!ask.stream)
    return JSON.stringify({ ...head, choices: choice(answer.text, answer.finish), usage: usageOf(answer) });
  const events = [
    event({ ...head, choices: choice(answer.text, null) }),
    event({ ...head, choices: choice("", answer.finish) }),
  ];
  if (ask.includeUsage) events.push(event({ ...head, choices: [], usage: usageOf(answer) }));
  return events.join("") + DONE;
}

function usageOf({ promptTokens, completionTokens }: CompleteAnswer) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}
