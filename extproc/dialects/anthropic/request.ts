import { isRecord, type JsonRecord, parseObject } from "../../body/json.js";
import { printJson } from "../raw-json.js";
import { Untranslatable } from "../untranslatable.js";
import { thinkingFor } from "./thinking.js";
import { toolsFor } from "./tools.js";
import { Turns } from "./turns.js";

/** Messages must state a limit; chats need not. */
const DEFAULT_MAX_TOKENS = 4096;

export interface MessagesRequest {
  readonly body: Uint8Array;
  /** The caller wants an event about the usage at the stream's end. */
  readonly includesUsage: boolean;
}

/**
 * A chat completion's body as one of Messages. Settings without a counterpart (n, seed, penalties, logprobs,
 * response_format, tools that are no functions) are left out, since a fallback that answers is worth more than one that
 * refuses; content without one is refused.
 * @throws Untranslatable
 */
export function toMessages(body: Buffer): MessagesRequest {
  const chat = parseObject(body);
  if (chat === undefined || !Array.isArray(chat.messages)) throw new Untranslatable("no list of messages");
  const turns = new Turns(chat.messages);
  const maxTokens = maxTokensOf(chat);
  const tools = toolsFor(chat, body, turns.toolNames);
  const thinking = thinkingFor(chat, maxTokens, turns.toolNames.size > 0, tools.tool_choice);
  const messages: JsonRecord = {
    model: chat.model,
    max_tokens: maxTokens,
    system: turns.system,
    messages: turns.list,
    ...tools,
    thinking,
    ...samplingOf(chat, thinking !== undefined),
    stop_sequences: stopsOf(chat.stop),
    stream: chat.stream === true ? true : undefined,
    metadata: typeof chat.user === "string" ? { user_id: chat.user } : undefined,
  };
  return { body: Buffer.from(printJson(messages)), includesUsage: asksForUsage(chat.stream_options) };
}

function asksForUsage(options: unknown): boolean {
  return isRecord(options) && options.include_usage === true;
}

function maxTokensOf(chat: JsonRecord): number {
  const asked = [chat.max_completion_tokens, chat.max_tokens].find(
    (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 1,
  );
  return typeof asked === "number" ? asked : DEFAULT_MAX_TOKENS;
}

/**
 * The temperature's range ends at 1 here. Newer models take either it or `top_p`, and neither of them while they
 * think.
 */
function samplingOf(chat: JsonRecord, isThinking: boolean): JsonRecord {
  if (isThinking) return {};
  const topK = typeof chat.top_k === "number" && chat.top_k > 0 ? { top_k: chat.top_k } : {};
  if (typeof chat.temperature === "number") {
    return { temperature: Math.min(1, Math.max(0, chat.temperature)), ...topK };
  }
  return typeof chat.top_p === "number" ? { top_p: chat.top_p, ...topK } : topK;
}

/** Sequences of blanks only are refused there. */
function stopsOf(stop: unknown): string[] | undefined {
  const all = (Array.isArray(stop) ? stop : [stop]).filter((text) => typeof text === "string");
  const stops = all.filter((text) => text.trim() !== "");
  return stops.length > 0 ? stops : undefined;
}
