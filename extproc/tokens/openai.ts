import type { Chat } from "../body/chat.js";
import { isRecord, type JsonRecord } from "../body/json.js";
import type { Rendered } from "./template.js";

/**
 * OpenAI's documented counting rule for gpt-4o (cookbook, "How to count tokens with tiktoken"): three tokens per
 * message, one more per name, three for the reply's start. The figures for tools are from the same page; they and
 * tool calls are approximations, so such a count is never exact.
 */
const PER_MESSAGE = 3;
const PER_NAME = 1;
const PER_REPLY = 3;
const PER_FUNCTION = 7;
const PER_PROPERTY_LIST = 3;
const PER_PROPERTY = 3;
const PER_ENUM = -3;
const PER_ENUM_ITEM = 3;
const PER_TOOL_LIST = 12;
/** Role, recipient and argument marks around one call of an assistant message. */
const PER_TOOL_CALL = 8;

export function renderOpenAi(chat: Chat): Rendered {
  const rendered: Rendered = {
    segments: [],
    overheadTokens: PER_REPLY,
    isExact: !chat.isCustom && chat.tools.length === 0,
  };
  for (const message of chat.messages) {
    rendered.overheadTokens += PER_MESSAGE;
    rendered.segments.push(message.role, message.text);
    if (message.name !== undefined) {
      rendered.segments.push(message.name);
      rendered.overheadTokens += PER_NAME;
    }
    if (message.reasoning !== undefined) {
      rendered.isExact = false;
      rendered.segments.push(message.reasoning);
    }
    for (const call of message.toolCalls) {
      rendered.isExact = false;
      rendered.overheadTokens += PER_TOOL_CALL;
      rendered.segments.push(call.name, spell(call.arguments));
    }
  }
  if (chat.responseSchema !== undefined) {
    rendered.isExact = false;
    rendered.segments.push(spell(chat.responseSchema));
  }
  if (chat.tools.length > 0) rendered.overheadTokens += PER_TOOL_LIST;
  for (const tool of chat.tools) addTool(rendered, tool);
  return rendered;
}

function addTool(rendered: Rendered, tool: unknown): void {
  if (!isRecord(tool)) return;
  const definition = isRecord(tool.function) ? tool.function : tool;
  rendered.overheadTokens += PER_FUNCTION;
  rendered.segments.push(`${spell(definition.name)}:${spell(definition.description).replace(/\.$/, "")}`);
  const parameters = definition.parameters;
  const properties = isRecord(parameters) && isRecord(parameters.properties) ? parameters.properties : {};
  const entries = Object.entries(properties);
  if (entries.length > 0) rendered.overheadTokens += PER_PROPERTY_LIST;
  for (const [name, property] of entries) addProperty(rendered, name, isRecord(property) ? property : {});
}

function addProperty(rendered: Rendered, name: string, property: JsonRecord): void {
  rendered.overheadTokens += PER_PROPERTY;
  const choices = property.enum;
  if (Array.isArray(choices)) {
    rendered.overheadTokens += PER_ENUM + PER_ENUM_ITEM * choices.length;
    rendered.segments.push(...choices.map(spell));
  }
  rendered.segments.push(`${name}:${spell(property.type)}:${spell(property.description).replace(/\.$/, "")}`);
  // The rule says nothing of nested schemas; counting their text keeps a large one from looking small.
  for (const key of ["properties", "items", "anyOf", "oneOf", "allOf"]) {
    if (property[key] !== undefined) rendered.segments.push(spell(property[key]));
  }
}

function spell(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
