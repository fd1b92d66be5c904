import { type Chat, type ChatMessage, type Media, setResponseSchema, type ToolCall } from "./chat.js";
import { readContent } from "./content.js";
import { isRecord, type JsonRecord } from "./json.js";
import { readOutputAsk } from "./output-ask.js";
import type { Reading } from "./prompt.js";

/** /v1/chat/completions of OpenAI and of the servers that speak it. Undefined for a shape that is not understood. */
export function readChatCompletion(body: JsonRecord, media: Media): Reading | undefined {
  const chat = readChat(body, media);
  // An answer that is spoken costs like a sound in the prompt.
  if (Array.isArray(body.modalities) && body.modalities.includes("audio")) media.audio++;
  return chat && { prompt: { kind: "chat", chat }, output: readOutputAsk([body], 1) };
}

/** Fields by which a server adds text that is not in the messages: how much, only it knows. */
const ADDS_TEXT = ["documents", "chat_template", "web_search_options", "prediction"];
const CHANGES_TEMPLATE = ["add_generation_prompt", "continue_final_message"];

/** `messages`, `tools` and what else becomes part of the prompt. */
export function readChat(body: JsonRecord, media: Media): Chat | undefined {
  if (!Array.isArray(body.messages) || body.messages.length === 0) return undefined;
  if (ADDS_TEXT.some((key) => body[key] !== undefined && body[key] !== null)) return undefined;
  const messages: ChatMessage[] = [];
  for (const raw of body.messages) {
    const message = readMessage(raw, media);
    if (message === undefined) return undefined;
    messages.push(message);
  }
  const tools = readTools(body);
  const template = readTemplateArguments(body);
  if (tools === undefined || template === undefined) return undefined;
  const chat: Chat = {
    messages,
    tools,
    templateArguments: template,
    isCustom: CHANGES_TEMPLATE.some((key) => key in body),
  };
  setResponseSchema(chat, readSchema(body));
  return chat;
}

function readTemplateArguments(body: JsonRecord): JsonRecord | undefined {
  const given = body.chat_template_kwargs ?? {};
  if (!isRecord(given)) return undefined;
  const template: JsonRecord = isSwitch(body.reasoning_effort)
    ? { reasoning_effort: body.reasoning_effort, ...given }
    : given;
  return Object.values(template).every(isSwitch) ? template : undefined;
}

/** Switches of a template, as `enable_thinking`; anything longer may be text that it prints. */
function isSwitch(value: unknown): boolean {
  return value === null || typeof value === "boolean" || typeof value === "number" || isShort(value);
}

function isShort(value: unknown): boolean {
  return typeof value === "string" && value.length <= 32;
}

function readSchema(body: JsonRecord): unknown {
  const format = body.response_format;
  if (!isRecord(format)) return body.guided_json;
  return isRecord(format.json_schema) ? format.json_schema : (format.schema ?? body.guided_json);
}

/** Tools that the caller defines; hosted ones, as a web search, bring text that only the server knows. */
function readTools(body: JsonRecord): unknown[] | undefined {
  const { tools, functions } = body;
  const lists = [tools ?? [], functions ?? []];
  if (!lists.every(Array.isArray)) return undefined;
  const all: unknown[] = lists.flat();
  return all.every(isDefined) ? all : undefined;
}

function isDefined(tool: unknown): boolean {
  if (!isRecord(tool)) return false;
  return tool.type === undefined || tool.type === "function" || tool.type === "custom";
}

function readMessage(raw: unknown, media: Media): ChatMessage | undefined {
  if (!isRecord(raw) || typeof raw.role !== "string") return undefined;
  const text = readContent(raw.content, media);
  const toolCalls = readToolCalls(raw);
  if (text === undefined || toolCalls === undefined) return undefined;
  const message: ChatMessage = { role: raw.role, text, toolCalls };
  if (typeof raw.name === "string") message.name = raw.name;
  const reasoning = raw.reasoning_content ?? raw.reasoning;
  if (typeof reasoning === "string") message.reasoning = reasoning;
  // A spoken answer of earlier, named by its id; and a refusal of earlier, beside the content.
  if (isRecord(raw.audio)) media.audio++;
  if (typeof raw.refusal === "string") message.text += raw.refusal;
  return message;
}

function readToolCalls(message: JsonRecord): ToolCall[] | undefined {
  const calls = message.tool_calls ?? [];
  if (!Array.isArray(calls)) return undefined;
  const list: unknown[] = [...calls];
  if (isRecord(message.function_call)) list.push({ function: message.function_call });
  const read: ToolCall[] = [];
  for (const call of list) {
    const called = isRecord(call) ? (call.function ?? call.custom ?? call) : undefined;
    if (!isRecord(called) || typeof called.name !== "string") return undefined;
    read.push({ name: called.name, arguments: called.arguments ?? called.input ?? "" });
  }
  return read;
}
