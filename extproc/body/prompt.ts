import { type Chat, type Media, readChat } from "./chat.js";
import { type CompletionPrompt, readCompletionPrompt } from "./completion.js";
import type { JsonRecord } from "./json.js";
import { type OutputAsk, readOutputAsk } from "./output-ask.js";
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

/** What a request body says, apart from the size of its prompt. */
export interface BodyFacts {
  model?: string;
  stream: boolean;
  media: Media;
  output: OutputAsk;
  /** Absent when the shape is not understood. */
  prompt?: Prompt;
}

/** Reads a body by its endpoint: any path that ends in `/chat/completions` or `/completions` (Azure's, too). */
export function readBodyFacts(path: string, body: JsonRecord): BodyFacts {
  const media: Media = { images: 0, audio: 0 };
  const prompt = readPrompt(path, body, media);
  // An answer that is spoken costs like a sound in the prompt.
  if (Array.isArray(body.modalities) && body.modalities.includes("audio")) media.audio++;
  const prompts = prompt?.kind === "completion" ? prompt.completion.prompts : 1;
  const facts: BodyFacts = { stream: body.stream === true, media, output: readOutputAsk(body, prompts) };
  if (typeof body.model === "string") facts.model = body.model;
  if (prompt !== undefined) facts.prompt = prompt;
  return facts;
}

function readPrompt(path: string, body: JsonRecord, media: Media): Prompt | undefined {
  if (path.endsWith("/chat/completions")) {
    const chat = readChat(body, media);
    return chat && { kind: "chat", chat };
  }
  if (path.endsWith("/completions")) {
    const completion = readCompletionPrompt(body);
    return completion && { kind: "completion", completion };
  }
  return undefined;
}
