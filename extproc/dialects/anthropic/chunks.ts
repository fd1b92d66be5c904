import type { JsonRecord } from "../../body/json.js";
import type { AnswerForm } from "./form.js";
import { textIn } from "./text-in.js";
import { toUsage } from "./usage.js";

/** Writes one answer's chunks, as events of a stream. */
export class ChunkWriter {
  private id = "";
  private model: string;

  constructor(private readonly form: AnswerForm) {
    this.model = form.model ?? "";
  }

  /** What the backend calls the answer and its model. */
  name(id: unknown, model: unknown): void {
    this.id = textIn(id);
    this.model = this.form.model ?? textIn(model);
  }

  delta(delta: JsonRecord, finishReason: string | null = null): string {
    return this.write([{ index: 0, delta, logprobs: null, finish_reason: finishReason }]);
  }

  /** Nothing for an empty text, which would be no token. */
  text(field: "content" | "reasoning_content", text: unknown): string {
    return typeof text === "string" && text !== "" ? this.delta({ [field]: text }) : "";
  }

  usage(...usages: readonly unknown[]): string {
    return this.write([], { usage: toUsage(...usages) });
  }

  private write(choices: readonly JsonRecord[], more: JsonRecord = {}): string {
    const { id, model, form } = this;
    const head = { id, object: "chat.completion.chunk", created: form.createdAt, model };
    return `data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`;
  }
}
