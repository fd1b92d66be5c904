import type { Chat, ChatMessage } from "../body/chat.js";
import { toPythonJson } from "../body/json.js";
import type { Rendered } from "./template.js";

/** The marks that Qwen's tokenizer knows as one token each; here they come from the template only, never from a user. */
const MARKS = /(<\|im_start\|>|<\|im_end\|>|<\/?tool_call>|<\/?tool_response>|<\/?think>)/;

const TOOLS_HEAD =
  "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n" +
  "You are provided with function signatures within <tools></tools> XML tags:\n<tools>";
const TOOLS_TAIL =
  "\n</tools>\n\nFor each function call, return a json object with function name and arguments within " +
  '<tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n' +
  "</tool_call><|im_end|>\n";

const TEMPLATE_ROLES = new Set(["system", "user", "assistant", "tool"]);

/** Collects a rendered prompt: text of users stays text, whatever marks it imitates. */
class SegmentWriter {
  private readonly segments: string[] = [];
  private pending = "";
  private marks = 0;

  text(text: string): this {
    this.pending += text;
    return this;
  }

  template(text: string): this {
    for (const [index, piece] of text.split(MARKS).entries()) {
      if (index % 2 === 0) {
        this.pending += piece;
        continue;
      }
      this.flush();
      this.marks++;
    }
    return this;
  }

  finish(isExact: boolean): Rendered {
    this.flush();
    return { segments: this.segments, overheadTokens: this.marks, isExact };
  }

  private flush(): void {
    if (this.pending !== "") this.segments.push(this.pending);
    this.pending = "";
  }
}

/** ChatML as the chat template of Qwen3's tokenizer_config.json writes it, tools, thoughts and tool results included. */
export function renderChatMl(chat: Chat): Rendered {
  const out = new SegmentWriter();
  const { messages } = chat;
  const first = messages[0];
  const system = first?.role === "system" ? first : undefined;
  if (chat.tools.length > 0) {
    out.template("<|im_start|>system\n");
    if (system) out.text(`${system.text}\n\n`);
    out.template(TOOLS_HEAD);
    for (const tool of chat.tools) out.text(`\n${toPythonJson(tool)}`);
    out.template(TOOLS_TAIL);
  } else if (system) {
    writeTurn(out, system);
  }
  const lastQuery = indexOfLastQuery(messages);
  for (const [index, message] of messages.entries()) {
    if (message === system) continue;
    if (message.role === "assistant")
      writeAssistant(out, message, index > lastQuery, index === messages.length - 1);
    else if (message.role === "tool") writeToolResult(out, messages, index);
    // The template leaves roles out that it does not know; we count them, rather too much than too little.
    else writeTurn(out, message);
  }
  out.template("<|im_start|>assistant\n");
  if (chat.isThinkingOff) out.template("<think>\n\n</think>\n\n");
  return out.finish(!chat.isCustom && messages.every(({ role }) => TEMPLATE_ROLES.has(role)));
}

function writeTurn(out: SegmentWriter, message: ChatMessage): void {
  out.template("<|im_start|>").text(`${message.role}\n${message.text}`).template("<|im_end|>\n");
}

function writeAssistant(
  out: SegmentWriter,
  message: ChatMessage,
  isAfterQuery: boolean,
  isLast: boolean,
): void {
  const { content, reasoning } = splitThought(message);
  out.template("<|im_start|>assistant\n");
  if (isAfterQuery && (isLast || reasoning !== "")) {
    out.template("<think>\n").text(stripNewlines(reasoning)).template("\n</think>\n\n");
    out.text(content.replace(/^\n+/, ""));
  } else {
    out.text(content);
  }
  for (const [index, call] of message.toolCalls.entries()) {
    if (index > 0 || content !== "") out.text("\n");
    const spelled = typeof call.arguments === "string" ? call.arguments : toPythonJson(call.arguments);
    out.template("<tool_call>\n").text(`{"name": "${call.name}", "arguments": ${spelled}}`);
    out.template("\n</tool_call>");
  }
  out.template("<|im_end|>\n");
}

function splitThought(message: ChatMessage): { content: string; reasoning: string } {
  if (message.reasoning !== undefined) return { content: message.text, reasoning: message.reasoning };
  const end = message.text.indexOf("</think>");
  if (end === -1) return { content: message.text, reasoning: "" };
  const before = trimEndNewlines(message.text.slice(0, end));
  const reasoning = before.slice(
    before.lastIndexOf("<think>") + (before.includes("<think>") ? "<think>".length : 1),
  );
  const content = message.text.slice(message.text.lastIndexOf("</think>") + "</think>".length);
  return { content: content.replace(/^\n+/, ""), reasoning: reasoning.replace(/^\n+/, "") };
}

function writeToolResult(out: SegmentWriter, messages: readonly ChatMessage[], index: number): void {
  if (messages[index - 1]?.role !== "tool") out.template("<|im_start|>user");
  out
    .template("\n<tool_response>\n")
    .text(messages[index]?.text ?? "")
    .template("\n</tool_response>");
  if (messages[index + 1]?.role !== "tool") out.template("<|im_end|>\n");
}

/** Thoughts before the last real question are dropped by the template; a tool result dressed as a user is none. */
function indexOfLastQuery(messages: readonly ChatMessage[]): number {
  const index = messages.findLastIndex(
    ({ role, text }) =>
      role === "user" && !(text.startsWith("<tool_response>") && text.endsWith("</tool_response>")),
  );
  return index === -1 ? messages.length - 1 : index;
}

/** Without a regular expression: /\n+$/ is quadratic on text full of line breaks. */
function trimEndNewlines(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === "\n") end--;
  return text.slice(0, end);
}

function stripNewlines(text: string): string {
  return trimEndNewlines(text).replace(/^\n+/, "");
}
