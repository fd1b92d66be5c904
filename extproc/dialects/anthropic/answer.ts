import { isRecord, type JsonRecord, parseObject } from "../../body/json.js";
import { rawElements, rawMember } from "../raw-json.js";
import { toOpenAiError, unreadable } from "./errors.js";
import { toFinishReason } from "./finish.js";
import type { AnswerForm } from "./form.js";
import { textIn } from "./text-in.js";
import { toUsage } from "./usage.js";

/** A message in one piece as a chat completion. What can't be read becomes an error within the answer. */
export function toCompletion(body: Buffer | undefined, form: AnswerForm): Buffer {
  return Buffer.from(
    JSON.stringify(body ? completionOf(body, form) : { error: unreadable("The answer is too large.") }),
  );
}

function completionOf(body: Buffer, form: AnswerForm): JsonRecord {
  const message = parseObject(body);
  if (message?.type === "error") return { error: toOpenAiError(message.error) };
  if (message?.type !== "message" || !Array.isArray(message.content)) {
    return { error: unreadable("The backend's answer is no message.") };
  }
  return {
    id: textIn(message.id),
    object: "chat.completion",
    created: form.createdAt,
    model: form.model ?? textIn(message.model),
    choices: [
      {
        index: 0,
        message: messageOf(message.content, rawElements(rawMember(body, "content"))),
        logprobs: null,
        finish_reason: toFinishReason(message.stop_reason) ?? null,
      },
    ],
    usage: toUsage(message.usage),
  };
}

/** `raw` are the same blocks as bytes: a tool's input goes into a text, digit by digit. */
function messageOf(blocks: readonly unknown[], raw: readonly Buffer[]): JsonRecord {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls: JsonRecord[] = [];
  for (const [index, block] of blocks.entries()) {
    if (!isRecord(block)) continue;
    if (block.type === "text") texts.push(textIn(block.text));
    else if (block.type === "thinking") thoughts.push(textIn(block.thinking));
    else if (block.type === "tool_use") {
      const input = rawMember(raw[index], "input")?.toString("utf8") ?? "{}";
      calls.push({
        id: textIn(block.id),
        type: "function",
        function: { name: textIn(block.name), arguments: input },
      });
    }
  }
  return {
    role: "assistant",
    content: texts.length > 0 ? texts.join("") : null,
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join("") }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}
