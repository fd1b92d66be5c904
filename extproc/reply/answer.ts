export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as OpenAI sends it. */
  readonly arguments: string;
}

export type Finish = "stop" | "length" | "tool_calls" | "content_filter";

/** A whole answer of a model, whatever dialect it came in and is to be given in. */
export interface CompleteAnswer {
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: Finish;
  /** Tokens; what the answer once cost, zero for one that cost nothing. */
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** A text of ours in a model's place. */
export function answerOfText(model: string, text: string): CompleteAnswer {
  return { model, text, reasoning: "", toolCalls: [], finish: "stop", promptTokens: 0, completionTokens: 0 };
}
