import { EventSplitter, type StreamEvent } from "../../body/event-stream.js";
import { isRecord, type JsonRecord } from "../../body/json.js";
import type { AnswerEditor } from "../answer-editor.js";
import { ChunkWriter } from "./chunks.js";
import { toOpenAiError, unreadable } from "./errors.js";
import { toFinishReason } from "./finish.js";
import type { AnswerForm } from "./form.js";
import { textIn } from "./text-in.js";

/**
 * A stream of Messages as one of chat completions, event by event. It ends with `[DONE]` only when the message ended,
 * and with an error when the backend said so or can't be understood; then nothing more is passed on, so that the
 * caller's stream ends as a broken one.
 */
export class StreamTranslator implements AnswerEditor {
  private readonly splitter = new EventSplitter();
  private readonly chunks: ChunkWriter;
  private readonly usages: unknown[] = [];
  /** Which tool call a content block is; texts are none. */
  private readonly callOfBlock = new Map<unknown, number>();
  private hasFinished = false;
  private isOver = false;

  constructor(private readonly form: AnswerForm) {
    this.chunks = new ChunkWriter(form);
  }

  push(piece: Buffer, isEnd: boolean): Buffer {
    let text = "";
    try {
      for (const event of this.splitter.push(piece)) text += this.translate(event);
      const last = isEnd ? this.splitter.end() : undefined;
      if (last !== undefined) text += this.translate(last);
    } catch {
      text += this.breakOff(unreadable("The backend's stream can't be read."));
    }
    return Buffer.from(text);
  }

  private translate({ data }: StreamEvent): string {
    if (this.isOver) return "";
    const event: unknown = JSON.parse(data);
    if (!isRecord(event)) throw new TypeError("an event is no object");
    switch (event.type) {
      case "message_start":
        return this.start(event.message);
      case "content_block_start":
        return this.startBlock(event.index, event.content_block);
      case "content_block_delta":
        return this.continueBlock(event.index, event.delta);
      case "message_delta":
        return this.finish(event);
      case "message_stop":
        return this.end();
      case "error":
        return this.breakOff(toOpenAiError(event.error));
      case "ping":
        // Keeps the caller's connection warm, and shows the meter that the backend lives.
        return ": ping\n\n";
      default:
        // Kinds that come one day must not break a stream (Anthropic's versioning policy).
        return "";
    }
  }

  private start(message: unknown): string {
    if (!isRecord(message)) throw new TypeError("a message is no object");
    this.usages.push(message.usage);
    this.chunks.name(message.id, message.model);
    return this.chunks.delta({ role: "assistant", content: "" });
  }

  private startBlock(index: unknown, block: unknown): string {
    if (!isRecord(block)) return "";
    // Some servers begin a block with its first text.
    if (block.type === "text") return this.chunks.text("content", block.text);
    if (block.type === "thinking") return this.chunks.text("reasoning_content", block.thinking);
    if (block.type !== "tool_use") return "";
    const call = this.callOfBlock.size;
    this.callOfBlock.set(index, call);
    const named = { name: textIn(block.name), arguments: "" };
    return this.chunks.delta({
      tool_calls: [{ index: call, id: textIn(block.id), type: "function", function: named }],
    });
  }

  private continueBlock(index: unknown, delta: unknown): string {
    if (!isRecord(delta)) return "";
    if (delta.type === "text_delta") return this.chunks.text("content", delta.text);
    if (delta.type === "thinking_delta") return this.chunks.text("reasoning_content", delta.thinking);
    const call = this.callOfBlock.get(index);
    if (delta.type !== "input_json_delta" || call === undefined || !delta.partial_json) return "";
    return this.chunks.delta({
      tool_calls: [{ index: call, function: { arguments: textIn(delta.partial_json) } }],
    });
  }

  private finish(event: JsonRecord): string {
    this.usages.push(event.usage);
    const reason = toFinishReason(isRecord(event.delta) ? event.delta.stop_reason : undefined);
    if (reason === undefined || this.hasFinished) return "";
    this.hasFinished = true;
    return this.chunks.delta({}, reason);
  }

  private end(): string {
    this.isOver = true;
    if (!this.hasFinished) return "";
    const usage = this.form.includesUsage ? this.chunks.usage(...this.usages) : "";
    return `${usage}data: [DONE]\n\n`;
  }

  private breakOff(error: JsonRecord): string {
    if (this.isOver) return "";
    this.isOver = true;
    return `data: ${JSON.stringify({ error })}\n\n`;
  }
}
