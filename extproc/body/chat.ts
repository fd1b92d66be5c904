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
  tools: unknown[];
  /** The caller switched Qwen's thinking off, which adds an empty thought to the prompt. */
  isThinkingOff: boolean;
  /** The caller changes the template itself, so that no rule of ours gives the exact number. */
  isCustom: boolean;
}

export interface Media {
  images: number;
  audio: number;
}

const IMAGE_PARTS = new Set(["image_url", "image", "input_image", "image_embeds", "video_url", "video"]);
const AUDIO_PARTS = new Set(["input_audio", "audio_url", "audio"]);
const TEXT_PARTS = new Set(["text", "input_text", "output_text", "refusal"]);

/**
 * The `messages` and `tools` of /v1/chat/completions. Pictures and sounds are counted into `media`, their bytes
 * never become text. Undefined for a shape that is not understood: its size is unknown.
 */
export function readChat(body: JsonRecord, media: Media): Chat | undefined {
  if (!Array.isArray(body.messages) || body.messages.length === 0) return undefined;
  const messages: ChatMessage[] = [];
  for (const raw of body.messages) {
    const message = readMessage(raw, media);
    if (message === undefined) return undefined;
    messages.push(message);
  }
  const tools = body.tools ?? body.functions ?? [];
  if (!Array.isArray(tools)) return undefined;
  const template = body.chat_template_kwargs;
  return {
    messages,
    tools,
    isThinkingOff: isRecord(template) && template.enable_thinking === false,
    isCustom: ["chat_template", "add_generation_prompt", "continue_final_message", "documents"].some(
      (key) => key in body,
    ),
  };
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
  return message;
}

function readContent(content: unknown, media: Media): string | undefined {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const texts: string[] = [];
  for (const part of content) {
    if (typeof part === "string") {
      texts.push(part);
      continue;
    }
    if (!isRecord(part) || typeof part.type !== "string") return undefined;
    const type = part.type;
    const text = part.text ?? part.refusal;
    if (IMAGE_PARTS.has(type)) media.images++;
    else if (AUDIO_PARTS.has(type)) media.audio++;
    else if (TEXT_PARTS.has(type) && typeof text === "string") texts.push(text);
    else return undefined;
  }
  return texts.join("\n");
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
