import type { Chat } from "../body/chat.js";
import { renderChatMl } from "./chatml.js";
import { renderOpenAi } from "./openai.js";
import { renderPlain } from "./plain.js";

/** A prompt as a model's chat template spells it, cut where a special token stands. */
export interface Rendered {
  /** Pieces of text; each is tokenized on its own, as tokenizers do between special tokens. */
  segments: string[];
  /** Tokens that are no text: special tokens and documented flat costs. */
  overheadTokens: number;
  /** False when the template's rule is unknown for this chat. */
  isExact: boolean;
}

export type Template = (chat: Chat) => Rendered;

export const TEMPLATE_NAMES = ["chatml", "openai", "plain"] as const;
export type TemplateName = (typeof TEMPLATE_NAMES)[number];

export const TEMPLATES: Record<TemplateName, Template> = {
  chatml: renderChatMl,
  openai: renderOpenAi,
  plain: renderPlain,
};
