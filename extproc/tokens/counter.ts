import type { Media } from "../body/chat.js";
import type { CompletionPrompt } from "../body/completion.js";
import type { Prompt } from "../body/prompt.js";
import { Lane } from "../threads/lane.js";
import type { Family } from "./families.js";
import { piecesOf } from "./pieces.js";
import { renderPlain } from "./plain.js";
import type { CountAsk, CountReply } from "./protocol.js";
import type { TokenLimits } from "./settings.js";
import { upperBoundOfSize, upperBoundTokens } from "./upper-bound.js";

export interface TokenCount {
  tokens: number;
  /** False for an upper bound, an unknown family, media, or text that imitates special tokens. */
  isExact: boolean;
  /** By which family's vocabulary. */
  family: string;
}

/** What is to be counted of one prompt. */
interface Work {
  readonly ask: CountAsk;
  /** All text there is, for the bound. */
  readonly texts: readonly string[];
  /** Tokens that are no text. */
  readonly flatTokens: number;
  /** More of them that the bound must allow for: what a chat template adds. */
  readonly templateTokens: number;
  readonly isExact: boolean;
}

/** Below this many texts at work a new one is tokenized; above, it gets its bound: the queue can't grow for ever. */
const MAX_AT_WORK = 256;
/** More pieces than any conversation has. */
const MAX_TEXTS = 8192;
/** Marks around a message, a tool or a tool call, in any template, and what stands around the whole. */
const TOKENS_PER_PIECE = 16;
const TOKENS_PER_PROMPT = 96;
const TOKENS_PER_TOOL_LIST = 416;

/**
 * Counts prompt tokens at a bounded cost: texts above `maxTextBytes` are never tokenized, large ones only
 * `largeConcurrency` at once, and after `timeLimit` the caller gets the upper bound while the native work runs out.
 */
export class TokenCounter {
  private readonly largeTexts: Lane;
  private atWork = 0;

  constructor(
    private readonly findFamily: (model: string | undefined) => Family,
    private readonly limits: TokenLimits,
  ) {
    this.largeTexts = new Lane(limits.largeConcurrency);
  }

  async count(model: string | undefined, prompt: Prompt, media: Media): Promise<TokenCount> {
    const family = this.findFamily(model);
    const mediaTokens = media.images * this.limits.imageTokens + media.audio * this.limits.audioTokens;
    if (prompt.kind === "large") {
      const { pieces, idCount } = prompt.large;
      const bound = upperBoundOfSize(prompt.large, family.vocabulary.normalization);
      const marks = marksOf(pieces) + TOKENS_PER_TOOL_LIST;
      return { tokens: bound + idCount + marks + mediaTokens, isExact: false, family: family.name };
    }
    const work = workOf(prompt, family);
    const reply = await this.ask(work, family);
    const flatTokens = work.flatTokens + mediaTokens;
    if (reply === undefined) {
      const bound = work.templateTokens + boundOf(family, work.texts);
      return { tokens: flatTokens + bound, isExact: false, family: family.name };
    }
    const isExact = reply.isExact && work.isExact && family.isExact && media.images + media.audio === 0;
    return { tokens: flatTokens + reply.tokens, isExact, family: family.name };
  }

  /** Undefined when the prompt is too large, the time is over or the vocabulary can't tell. */
  private async ask(work: Work, family: Family): Promise<CountReply | undefined> {
    const { ask, texts } = work;
    if (ask.kind === "texts" && texts.length === 0) return { tokens: 0, isExact: true };
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text, "utf8"), 0);
    if (bytes > this.limits.maxTextBytes || texts.length > MAX_TEXTS || this.atWork >= MAX_AT_WORK)
      return undefined;
    const deadline = performance.now() + this.limits.timeLimit;
    const isLarge = bytes >= this.limits.largeTextBytes;
    const leave = isLarge ? await this.largeTexts.enter(this.limits.timeLimit) : () => {};
    if (leave === undefined) return undefined;
    this.atWork++;
    const counting = family.vocabulary
      .count(ask, Date.now() + Math.max(0, deadline - performance.now()))
      .catch(() => undefined)
      .finally(() => {
        this.atWork--;
        leave();
      });
    return within(counting, deadline - performance.now());
  }
}

function workOf(prompt: Exclude<Prompt, { kind: "large" }>, { template }: Family): Work {
  if (prompt.kind === "completion") return workOfCompletion(prompt.completion);
  const { chat } = prompt;
  if (template.kind === "file") {
    const { segments } = renderPlain(chat);
    return {
      ask: { kind: "chat", chat, template: template.source },
      texts: segments,
      flatTokens: 0,
      templateTokens: marksOf(piecesOf(chat)) + (chat.tools.length > 0 ? TOKENS_PER_TOOL_LIST : 0),
      isExact: true,
    };
  }
  const { segments, overheadTokens, isExact } = template.render(chat);
  return {
    ask: { kind: "texts", texts: segments, withMarks: false },
    texts: segments,
    flatTokens: overheadTokens,
    templateTokens: 0,
    isExact,
  };
}

function workOfCompletion({ texts, idCount }: CompletionPrompt): Work {
  return {
    ask: { kind: "texts", texts, withMarks: true },
    texts,
    flatTokens: idCount,
    // Llama's BOS.
    templateTokens: texts.length,
    isExact: true,
  };
}

function marksOf(pieces: number): number {
  return TOKENS_PER_PROMPT + pieces * TOKENS_PER_PIECE;
}

function boundOf(family: Family, texts: readonly string[]): number {
  const { normalization } = family.vocabulary;
  return texts.reduce((sum, text) => sum + upperBoundTokens(text, normalization), 0);
}

async function within<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(0, limitMs));
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
