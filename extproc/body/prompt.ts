import type { Chat, Media } from "./chat.js";
import type { CompletionPrompt } from "./completion.js";
import type { OutputAsk } from "./output-ask.js";
import type { TextSize } from "./text-size.js";

/** More text than is ever tokenized: only its size is told. */
export interface LargePrompt extends TextSize {
  /** Messages, tools and tool calls; each costs marks of its own. */
  readonly pieces: number;
  /** Tokens that came as ids. */
  readonly idCount: number;
}

/** The one normal form of every endpoint's prompt. */
export type Prompt =
  | { kind: "chat"; chat: Chat }
  | { kind: "completion"; completion: CompletionPrompt }
  | { kind: "large"; large: LargePrompt };

/** What a dialect says of a body that it understands. */
export interface Reading {
  prompt: Prompt;
  output: OutputAsk;
}

/** What a request body says, apart from the size of its prompt. */
export interface BodyFacts {
  /** At most 256 characters of it. */
  model?: string;
  stream: boolean;
  media: Media;
  output: OutputAsk;
  /** Absent when the shape is not understood. */
  prompt?: Prompt;
}
