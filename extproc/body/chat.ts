import { isRecord, type JsonRecord } from "./json.js";

export interface ToolCall {
  name: string;
  /** The arguments as the client spelled them when they came as a string, else the JSON value. */
  arguments: unknown;
}

export interface ChatMessage {
  role: string;
  name?: string;
  /** All text parts, joined as vLLM joins them for a template that wants one string. */
  text: string;
  reasoning?: string;
  toolCalls: ToolCall[];
}

export interface Chat {
  messages: ChatMessage[];
  /** As chat completions spell them, `{type: "function", function: {name, description, parameters}}`. */
  tools: unknown[];
  /** What the answer has to fit, as the caller wrote it; most servers put it into the prompt. */
  responseSchema?: unknown;
  /** What the caller tells the template: `chat_template_kwargs`, and `reasoning_effort`. */
  templateArguments: Readonly<Record<string, unknown>>;
  /** The caller changes the template itself, so that no rule of ours gives the exact number. */
  isCustom: boolean;
}

export interface Media {
  images: number;
  audio: number;
}

/** A function as chat completions spell it; absent fields stay absent. */
export function functionTool(name: unknown, description: unknown, parameters: unknown): JsonRecord {
  const definition: Record<string, unknown> = { name };
  if (description !== undefined) definition.description = description;
  if (parameters !== undefined) definition.parameters = parameters;
  return { type: "function", function: definition };
}

/** A chat without anything but these messages. */
export function plainChat(messages: ChatMessage[]): Chat {
  return { messages, tools: [], templateArguments: {}, isCustom: false };
}

/** Schemas are counted where they are given; only objects are any. */
export function setResponseSchema(chat: Chat, schema: unknown): void {
  if (isRecord(schema)) chat.responseSchema = schema;
}
