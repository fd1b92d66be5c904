import { isRecord, type JsonRecord } from "../body/json.js";
import type { CompleteAnswer, Finish, ToolCall } from "../reply/answer.js";
import type { Events } from "./events.js";

const FINISHES: Record<string, Finish> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  content_filter: "content_filter",
};

/** A chat or text completion in one piece; undefined when it is not one whole answer. */
export function readCompletion(body: JsonRecord): CompleteAnswer | undefined {
  const choices: unknown = body.choices;
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  if (!isRecord(choice)) return undefined;
  const parts = new Parts();
  parts.add(isRecord(choice.message) ? choice.message : { content: choice.text });
  return parts.finish(body.model, choice.finish_reason, body.usage);
}

/** The same from its events, which must have come to their end mark. */
export function readCompletionEvents({ objects, isDone }: Events): CompleteAnswer | undefined {
  if (!isDone) return undefined;
  const parts = new Parts();
  let model: unknown;
  let finish: unknown;
  let usage: unknown;
  for (const chunk of objects) {
    if (chunk.error !== undefined) return undefined;
    model ??= chunk.model || undefined;
    usage = chunk.usage ?? usage;
    for (const choice of Array.isArray(chunk.choices) ? chunk.choices : []) {
      if (!isRecord(choice) || (choice.index ?? 0) !== 0) return undefined;
      parts.add(isRecord(choice.delta) ? choice.delta : { content: choice.text });
      finish = choice.finish_reason ?? finish;
    }
  }
  return parts.finish(model, finish, usage);
}

/** Collects a message, whole or delta by delta. */
class Parts {
  private text = "";
  private reasoning = "";
  private readonly calls = new Map<number, { id: string; name: string; arguments: string }>();
  private isOdd = false;

  add(delta: JsonRecord): void {
    this.text += textOf(delta.content);
    this.reasoning += textOf(delta.reasoning_content ?? delta.reasoning);
    // A refusal, a sound or an old function call has no place in what is kept.
    if (delta.refusal || delta.audio || delta.function_call) this.isOdd = true;
    for (const [position, call] of (Array.isArray(delta.tool_calls) ? delta.tool_calls : []).entries())
      this.addCall(call, position);
  }

  finish(model: unknown, finish: unknown, usage: unknown): CompleteAnswer | undefined {
    const known =
      typeof finish === "string" && Object.hasOwn(FINISHES, finish) ? FINISHES[finish] : undefined;
    if (this.isOdd || known === undefined || typeof model !== "string") return undefined;
    const toolCalls: ToolCall[] = [...this.calls.values()];
    if (this.text === "" && toolCalls.length === 0) return undefined;
    const counts = isRecord(usage) ? usage : {};
    return {
      model,
      text: this.text,
      reasoning: this.reasoning,
      toolCalls,
      finish: known,
      promptTokens: tokensOf(counts.prompt_tokens),
      completionTokens: tokensOf(counts.completion_tokens),
    };
  }

  private addCall(call: unknown, position: number): void {
    const fn = isRecord(call) ? call.function : undefined;
    if (!isRecord(call) || !isRecord(fn)) {
      this.isOdd = true;
      return;
    }
    const index = typeof call.index === "number" ? call.index : position;
    const sum = this.calls.get(index) ?? { id: "", name: "", arguments: "" };
    sum.id ||= textOf(call.id);
    sum.name += textOf(fn.name);
    sum.arguments += textOf(fn.arguments);
    this.calls.set(index, sum);
  }
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function tokensOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
