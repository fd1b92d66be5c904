import { isRecord, type JsonRecord } from "../body/json.js";
import type { CompleteAnswer, ToolCall } from "../reply/answer.js";
import type { Events } from "./events.js";
import { textOf, tokensOf } from "./read-chat.js";

/** A completed `response`; undefined when it holds anything but messages, thoughts and function calls. */
export function readResponse(body: JsonRecord): CompleteAnswer | undefined {
  if (body.status !== "completed" || !Array.isArray(body.output) || typeof body.model !== "string")
    return undefined;
  let text = "";
  const toolCalls: ToolCall[] = [];
  for (const item of body.output) {
    if (!isRecord(item)) return undefined;
    if (item.type === "reasoning") continue;
    if (item.type === "function_call")
      toolCalls.push({
        id: textOf(item.call_id),
        name: textOf(item.name),
        arguments: textOf(item.arguments),
      });
    else if (item.type === "message" && Array.isArray(item.content)) {
      for (const part of item.content) {
        if (!isRecord(part) || part.type !== "output_text") return undefined;
        text += textOf(part.text);
      }
    } else return undefined;
  }
  if (text === "" && toolCalls.length === 0) return undefined;
  const usage = isRecord(body.usage) ? body.usage : {};
  return {
    model: body.model,
    text,
    reasoning: "",
    toolCalls,
    finish: toolCalls.length > 0 ? "tool_calls" : "stop",
    promptTokens: tokensOf(usage.input_tokens),
    completionTokens: tokensOf(usage.output_tokens),
  };
}

/** The last event of a Responses stream holds the whole response. */
export function readResponseEvents({ objects }: Events): CompleteAnswer | undefined {
  const last = objects.at(-1);
  return last?.type === "response.completed" && isRecord(last.response)
    ? readResponse(last.response)
    : undefined;
}
