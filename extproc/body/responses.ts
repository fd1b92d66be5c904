import {
  type Chat,
  type ChatMessage,
  functionTool,
  type Media,
  plainChat,
  setResponseSchema,
} from "./chat.js";
import { readContent } from "./content.js";
import { isRecord, type JsonRecord } from "./json.js";
import { readOutputAsk } from "./output-ask.js";
import type { Reading } from "./prompt.js";

/** What the server has stored and puts before the input: of a size that only it knows. */
const STORED = ["previous_response_id", "conversation", "prompt"];

/** /v1/responses: a text, or items. Hosted tools, stored items and encrypted thoughts are of unknown size. */
export function readResponses(body: JsonRecord, media: Media): Reading | undefined {
  if (STORED.some((key) => body[key] !== undefined && body[key] !== null)) return undefined;
  const messages = readInput(body.input, media);
  const tools = readTools(body.tools ?? []);
  if (messages === undefined || tools === undefined) return undefined;
  if (typeof body.instructions === "string") {
    messages.unshift({ role: "system", text: body.instructions, toolCalls: [] });
  } else if ((body.instructions ?? null) !== null) {
    return undefined;
  }
  const chat: Chat = { ...plainChat(messages), tools };
  if (isRecord(body.text) && isRecord(body.text.format)) setResponseSchema(chat, body.text.format.schema);
  return { prompt: { kind: "chat", chat }, output: readOutputAsk([body], 1) };
}

function readInput(input: unknown, media: Media): ChatMessage[] | undefined {
  if (typeof input === "string") return [{ role: "user", text: input, toolCalls: [] }];
  if (!Array.isArray(input) || input.length === 0) return undefined;
  const messages: ChatMessage[] = [];
  for (const item of input) {
    if (!isRecord(item) || !addItem(messages, item, media)) return undefined;
  }
  return messages;
}

function addItem(messages: ChatMessage[], item: JsonRecord, media: Media): boolean {
  switch (item.type ?? "message") {
    case "message":
      return typeof item.role === "string" && addText(messages, item.role, item.content, media);
    case "function_call":
    case "custom_tool_call":
      return addCall(messages, item);
    case "function_call_output":
    case "custom_tool_call_output":
      return addText(messages, "tool", item.output, media);
    case "reasoning":
      return addThought(messages, item, media);
    default:
      return false;
  }
}

function addText(messages: ChatMessage[], role: string, content: unknown, media: Media): boolean {
  const text = readContent(content, media);
  if (text !== undefined) messages.push({ role, text, toolCalls: [] });
  return text !== undefined;
}

/** Calls that follow each other are one turn of the assistant. */
function addCall(messages: ChatMessage[], item: JsonRecord): boolean {
  if (typeof item.name !== "string") return false;
  const last = messages.at(-1);
  const turn: ChatMessage =
    last?.role === "assistant" ? last : { role: "assistant", text: "", toolCalls: [] };
  if (turn !== last) messages.push(turn);
  turn.toolCalls.push({ name: item.name, arguments: item.arguments ?? item.input ?? "" });
  return true;
}

function addThought(messages: ChatMessage[], item: JsonRecord, media: Media): boolean {
  if ((item.encrypted_content ?? null) !== null) return false;
  const summary = readContent(item.summary, media);
  const content = readContent(item.content, media);
  if (summary === undefined || content === undefined) return false;
  messages.push({ role: "assistant", text: "", reasoning: summary + content, toolCalls: [] });
  return true;
}

function readTools(tools: unknown): unknown[] | undefined {
  if (!Array.isArray(tools)) return undefined;
  const read: unknown[] = [];
  for (const tool of tools) {
    if (!isRecord(tool)) return undefined;
    if (tool.type === "function") read.push(functionTool(tool.name, tool.description, tool.parameters));
    else if (tool.type === "custom") read.push(tool);
    else return undefined;
  }
  return read;
}
