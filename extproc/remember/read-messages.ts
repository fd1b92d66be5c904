import { isRecord, type JsonRecord } from "../body/json.js";
import type { CompleteAnswer, Finish, ToolCall } from "../reply/answer.js";
import type { Events } from "./events.js";
import { textOf, tokensOf } from "./read-chat.js";

const FINISHES: Record<string, Finish> = { end_turn: "stop", max_tokens: "length", tool_use: "tool_calls" };

/** An Anthropic `message`; undefined when it has other blocks than text, tool use and thoughts (which can't be given again). */
export function readMessage(body: JsonRecord): CompleteAnswer | undefined {
  const stop = textOf(body.stop_reason);
  const finish = Object.hasOwn(FINISHES, stop) ? FINISHES[stop] : undefined;
  if (finish === undefined || typeof body.model !== "string" || !Array.isArray(body.content))
    return undefined;
  let text = "";
  const toolCalls: ToolCall[] = [];
  for (const block of body.content) {
    if (!isRecord(block)) return undefined;
    if (block.type === "text") text += textOf(block.text);
    else if (block.type === "tool_use")
      toolCalls.push({
        id: textOf(block.id),
        name: textOf(block.name),
        arguments: JSON.stringify(block.input ?? {}),
      });
    else if (block.type !== "thinking" && block.type !== "redacted_thinking") return undefined;
  }
  if (text === "" && toolCalls.length === 0) return undefined;
  const usage = isRecord(body.usage) ? body.usage : {};
  const promptTokens = tokensOf(usage.input_tokens);
  const completionTokens = tokensOf(usage.output_tokens);
  return { model: body.model, text, reasoning: "", toolCalls, finish, promptTokens, completionTokens };
}

/** A message put together from its events, `message_start` to `message_stop`. */
export function readMessageEvents({ objects }: Events): CompleteAnswer | undefined {
  const start = objects.find(({ type }) => type === "message_start")?.message;
  if (!isRecord(start) || objects.at(-1)?.type !== "message_stop") return undefined;
  const blocks = new Map<unknown, Record<string, unknown>>();
  let stop: unknown;
  let usage = isRecord(start.usage) ? start.usage : {};
  for (const event of objects) {
    if (event.type === "error") return undefined;
    if (event.type === "content_block_start" && isRecord(event.content_block))
      blocks.set(event.index, { ...event.content_block, partial: "" });
    else if (event.type === "content_block_delta" && isRecord(event.delta))
      addDelta(blocks.get(event.index), event.delta);
    else if (event.type === "message_delta" && isRecord(event.delta)) {
      stop = event.delta.stop_reason ?? stop;
      if (isRecord(event.usage)) usage = { ...usage, ...event.usage };
    }
  }
  const content = [...blocks.values()].map(closeBlock);
  if (content.includes(undefined)) return undefined;
  return readMessage({ ...start, content, stop_reason: stop, usage });
}

function addDelta(block: Record<string, unknown> | undefined, delta: JsonRecord): void {
  if (block === undefined) return;
  if (delta.type === "text_delta") block.text = textOf(block.text) + textOf(delta.text);
  if (delta.type === "input_json_delta") block.partial = textOf(block.partial) + textOf(delta.partial_json);
}

/** A tool's input comes as pieces of JSON; undefined when they make none. */
function closeBlock({ partial, ...block }: Record<string, unknown>): JsonRecord | undefined {
  if (block.type !== "tool_use" || !partial) return block;
  try {
    return { ...block, input: JSON.parse(textOf(partial)) };
  } catch {
    return undefined;
  }
}
