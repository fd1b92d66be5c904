import { type ChatMessage, functionTool, type Media, plainChat } from "./chat.js";
import { isRecord, type JsonRecord } from "./json.js";
import { NO_OUTPUT, readOutputAsk } from "./output-ask.js";
import type { Reading } from "./prompt.js";

/** Anthropic's tools and servers that bring text of their own. */
const ADDS_TEXT = ["mcp_servers", "container"];

/** A result holds blocks, and a document in it may, too; more levels are no message of anyone's. */
const MAX_DEPTH = 4;

/** /v1/messages of Anthropic. Hosted tools, and documents that are no text, are of unknown size. */
export function readMessages(body: JsonRecord, media: Media): Reading | undefined {
  if (!Array.isArray(body.messages) || body.messages.length === 0) return undefined;
  if (ADDS_TEXT.some((key) => body[key] !== undefined && body[key] !== null)) return undefined;
  const messages: ChatMessage[] = [];
  if ((body.system ?? null) !== null) messages.push({ role: "system", text: "", toolCalls: [] });
  const system = messages[0];
  if (system && !addBlocks(system, messages, body.system, media)) return undefined;
  for (const raw of body.messages) {
    if (!isRecord(raw) || typeof raw.role !== "string") return undefined;
    const turn: ChatMessage = { role: raw.role, text: "", toolCalls: [] };
    if (!addBlocks(turn, messages, raw.content, media)) return undefined;
    messages.push(turn);
  }
  const tools = readTools(body.tools ?? []);
  if (tools === undefined) return undefined;
  return {
    prompt: { kind: "chat", chat: { ...plainChat(messages), tools } },
    output: readOutputAsk([body], 1),
  };
}

/** /v1/messages/count_tokens: the same prompt, nothing is generated. */
export function readCountTokens(body: JsonRecord, media: Media): Reading | undefined {
  const reading = readMessages(body, media);
  return reading && { ...reading, output: NO_OUTPUT };
}

/** Puts blocks into their turn; the results of tools become messages of their own, before it. */
function addBlocks(turn: ChatMessage, messages: ChatMessage[], content: unknown, media: Media): boolean {
  const texts: string[] = [];
  for (const block of toBlocks(content)) {
    if (!isRecord(block)) return false;
    if (block.type === "tool_use") {
      if (typeof block.name !== "string") return false;
      turn.toolCalls.push({ name: block.name, arguments: block.input ?? {} });
    } else if (block.type === "thinking") {
      if (typeof block.thinking !== "string") return false;
      turn.reasoning = (turn.reasoning ?? "") + block.thinking;
    } else if (block.type === "tool_result") {
      const text = readText(block.content ?? "", media, 1);
      if (text === undefined) return false;
      messages.push({ role: "tool", text, toolCalls: [] });
    } else {
      const text = readBlock(block, media, 0);
      if (text === undefined) return false;
      texts.push(text);
    }
  }
  turn.text = texts.join("\n");
  return true;
}

/** Null stands in for what is no content at all, and is no block. */
function toBlocks(content: unknown): readonly unknown[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [null];
}

function readText(content: unknown, media: Media, depth: number): string | undefined {
  const texts = toBlocks(content).map((block) =>
    isRecord(block) && depth < MAX_DEPTH ? readBlock(block, media, depth) : undefined,
  );
  return texts.every((text) => text !== undefined) ? texts.join("\n") : undefined;
}

/** The text of a block; a picture has none. */
function readBlock(block: JsonRecord, media: Media, depth: number): string | undefined {
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? block.text : undefined;
    case "image":
      media.images++;
      return "";
    case "document":
      return readDocument(block, media, depth);
    case "search_result":
      return withTitles([block.source, block.title], readText(block.content, media, depth + 1));
    default:
      return undefined;
  }
}

function readDocument(block: JsonRecord, media: Media, depth: number): string | undefined {
  const { source } = block;
  if (!isRecord(source)) return undefined;
  const given = source.type === "text" ? source.data : source.type === "content" ? source.content : undefined;
  return withTitles([block.title, block.context], readText(given, media, depth + 1));
}

function withTitles(titles: readonly unknown[], text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  return [...titles.filter((title) => typeof title === "string"), text].join("\n");
}

function readTools(tools: unknown): unknown[] | undefined {
  if (!Array.isArray(tools)) return undefined;
  const read: unknown[] = [];
  for (const tool of tools) {
    const isOwn = isRecord(tool) && (tool.type === undefined || tool.type === "custom");
    if (!isOwn) return undefined;
    read.push(functionTool(tool.name, tool.description, tool.input_schema));
  }
  return read;
}
