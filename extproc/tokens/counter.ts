import type { Media } from "../body/chat.js";
import type { Prompt } from "../body/prompt.js";
import { Lane } from "../threads/lane.js";
import type { Family } from "./families.js";
import type { TokenLimits } from "./settings.js";
import type { Rendered } from "./template.js";
import { upperBoundOfSize, upperBoundTokens } from "./upper-bound.js";

export interface TokenCount {
  tokens: number;
  /** False for an upper bound, an unknown family, media, or text that imitates special tokens. */
  isExact: boolean;
}

/** Below this many texts at work a new one is tokenized; above, it gets its bound: the queue can't grow for ever. */
const MAX_AT_WORK = 256;
/** More pieces than any conversation has. */
const MAX_SEGMENTS = 8192;
/** Marks around a message, a tool or a tool call, in any template, and those around the whole. */
const MARKS_PER_PIECE = 16;
const MARKS_PER_PROMPT = 256;

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
      const marks = MARKS_PER_PROMPT + pieces * MARKS_PER_PIECE;
      const bound = upperBoundOfSize(prompt.large, family.vocabulary.normalization);
      return { tokens: bound + idCount + marks + mediaTokens, isExact: false };
    }
    const rendered =
      prompt.kind === "chat" ? family.template(prompt.chat) : renderCompletion(prompt.completion);
    const flat = rendered.overheadTokens + mediaTokens;
    const text = await this.countText(family, rendered.segments, prompt.kind === "completion");
    const isExact = text.isExact && family.isExact && rendered.isExact && media.images + media.audio === 0;
    return { tokens: flat + text.tokens, isExact };
  }

  private async countText(
    family: Family,
    segments: readonly string[],
    withMarks: boolean,
  ): Promise<TokenCount> {
    const bytes = segments.reduce((sum, segment) => sum + Buffer.byteLength(segment, "utf8"), 0);
    const isTooMuch =
      bytes > this.limits.maxTextBytes || segments.length > MAX_SEGMENTS || this.atWork >= MAX_AT_WORK;
    if (segments.length === 0) return { tokens: 0, isExact: true };
    const tokens = isTooMuch ? undefined : await this.tokenize(family, segments, bytes, withMarks);
    if (tokens === undefined) return { tokens: boundOf(family, segments), isExact: false };
    return { tokens, isExact: !segments.some((segment) => family.vocabulary.imitatesMark(segment)) };
  }

  /** Undefined when the time is over or the tokenizer failed. */
  private async tokenize(family: Family, segments: readonly string[], bytes: number, withMarks: boolean) {
    const deadline = performance.now() + this.limits.timeLimit;
    const isLarge = bytes >= this.limits.largeTextBytes;
    const leave = isLarge ? await this.largeTexts.enter(this.limits.timeLimit) : () => {};
    if (leave === undefined) return undefined;
    this.atWork++;
    const work = family.vocabulary
      .count(segments, withMarks)
      .catch(() => undefined)
      .finally(() => {
        this.atWork--;
        leave();
      });
    return within(work, deadline - performance.now());
  }
}

function renderCompletion(completion: { texts: string[]; idCount: number }): Rendered {
  return { segments: completion.texts, overheadTokens: completion.idCount, isExact: true };
}

function boundOf(family: Family, segments: readonly string[]): number {
  const { normalization } = family.vocabulary;
  return segments.reduce((sum, segment) => sum + upperBoundTokens(segment, normalization), 0);
}

async function within<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(0, limitMs));
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
