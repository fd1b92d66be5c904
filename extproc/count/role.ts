import { decodeBody, listCodings } from "../body/coding.js";
import { parseObject } from "../body/json.js";
import { readBody } from "../body/reader.js";
import type { Answer } from "../messages.js";
import { isReplyAsked } from "../reply/instruction.js";
import type { Replier } from "../reply/replier.js";
import { bodyTooLarge } from "../reply/too-large.js";
import { pathOf } from "../request-headers.js";
import type { Exchange, Job, Role } from "../role.js";
import type { Warn } from "../telemetry/warn-once.js";
import type { TokenCount, TokenCounter } from "../tokens/counter.js";
import { type Facts, inStage } from "../traces/trace.js";
import { askLimits, type LimitParts } from "./admission.js";
import { readCanaryLimits } from "./canary-ask.js";
import { type RequestFacts, UNKNOWN_FACTS } from "./facts.js";
import { outputTokensOf, toDynamicMetadata } from "./metadata.js";
import { isCanary } from "./verdict.js";

/** To answer a larger request would hold up the event loop; it gets the gate's own error. */
const MAX_REPLY_BYTES = 2_097_152;

export interface CountParts {
  readonly counter: Pick<TokenCounter, "count">;
  /** Answers where no tier can. */
  readonly replier: Pick<Replier, "reply">;
  /** Larger bodies, before or after decompression, are refused. */
  readonly maxBodyBytes: number;
  /** Larger texts are not tokenized. UTF-8 bytes. */
  readonly maxTextBytes: number;
  /** Absent when callers have no limits. */
  readonly limits?: LimitParts | undefined;
  readonly warn: Warn;
}

interface Asked {
  readonly exchange: Exchange;
  /** Whether nobody waits for the answer any more. */
  readonly isOver: () => boolean;
}

/**
 * Tells facts about a request and whether it may be a canary, and holds its caller to his limits. Changes and routes
 * nothing; refuses what is over a limit.
 */
export class CountRole implements Role {
  constructor(private readonly parts: CountParts) {}

  begin(exchange: Exchange): Job {
    let isOver = false;
    const asked: Asked = { exchange, isOver: () => isOver };
    return {
      onRequestHeaders: (isWhole) => (isWhole ? this.conclude(asked, UNKNOWN_FACTS) : {}),
      onRequestBody: (body) => this.onBody(asked, body),
      onEnd: () => {
        isOver = true;
      },
    };
  }

  private async onBody(asked: Asked, body: Buffer): Promise<Answer> {
    const { exchange } = asked;
    const { maxBodyBytes } = this.parts;
    const coding = exchange.headers.get("content-encoding");
    const decoded = await decodeBody(body, coding, maxBodyBytes);
    if (decoded.kind === "tooLarge") return { immediate: bodyTooLarge(maxBodyBytes) };
    const plain = decoded.kind === "plain" ? decoded.bytes : undefined;
    if (isReplyAsked(exchange.attributes)) return this.reply(exchange, plain);
    const isDecoded = listCodings(coding).length > 0;
    const facts = plain && this.readFacts(exchange, plain, isDecoded);
    // Whatever a body makes us throw, its caller is held to his limits.
    return this.conclude(asked, (await facts?.catch(() => undefined)) ?? UNKNOWN_FACTS);
  }

  private reply(exchange: Exchange, plain: Buffer | undefined): Answer {
    const isSmall = plain !== undefined && plain.length <= MAX_REPLY_BYTES;
    const body = isSmall ? parseObject(plain) : undefined;
    const immediate = body && this.parts.replier.reply(exchange, body);
    exchange.trace?.note({ "llm_breaker.answer": immediate?.headers["x-llm-breaker-answer"] ?? "none" });
    return immediate ? { immediate } : {};
  }

  private async readFacts(
    { headers, trace }: Exchange,
    bytes: Buffer,
    isDecoded: boolean,
  ): Promise<RequestFacts | undefined> {
    const read = await readBody(pathOf(headers), bytes, this.parts.maxTextBytes, isDecoded);
    if (read === undefined) return undefined;
    const { prompt, ...facts } = read;
    if (prompt === undefined) return { ...facts, exact: false };
    const tokenize = () => this.parts.counter.count(facts.model, prompt, facts.media);
    const count = await inStage(trace, "tokenize", tokenize, countFacts).catch(() => undefined);
    if (count === undefined) return { ...facts, exact: false };
    return { ...facts, promptTokens: count.tokens, exact: count.isExact };
  }

  private async conclude({ exchange, isOver }: Asked, facts: RequestFacts): Promise<Answer> {
    const outcome = await askLimits(this.parts.limits, exchange, facts, { isOver, warn: this.parts.warn });
    if ("refusal" in outcome) return { immediate: outcome.refusal };
    const limits = readCanaryLimits(exchange.attributes);
    const canary = isCanary(facts, limits);
    exchange.trace?.note(requestFacts(facts, limits && canary));
    return { dynamicMetadata: toDynamicMetadata(facts, canary, outcome.texts) };
  }
}

function countFacts({ tokens, isExact, family }: TokenCount): Facts {
  return {
    "llm_breaker.prompt_tokens": tokens,
    "llm_breaker.exact": isExact,
    "llm_breaker.tokenizer": family,
  };
}

/** @param isWhitelisted undefined when nobody asked for a canary */
function requestFacts(facts: RequestFacts, isWhitelisted: boolean | undefined): Facts {
  return {
    "gen_ai.request.model": facts.model,
    "llm_breaker.prompt_tokens": facts.promptTokens,
    "llm_breaker.exact": facts.exact,
    "llm_breaker.output_tokens": outputTokensOf(facts),
    "llm_breaker.canary": isWhitelisted,
  };
}
