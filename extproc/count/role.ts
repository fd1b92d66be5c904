import { decodeBody } from "../body/coding.js";
import { parseObject } from "../body/json.js";
import { readBodyFacts } from "../body/prompt.js";
import type { Answer } from "../messages.js";
import { pathOf } from "../request-headers.js";
import type { Exchange, Job, Role } from "../role.js";
import type { TokenCounter } from "../tokens/counter.js";
import type { TokenLimits } from "../tokens/settings.js";
import { type RequestFacts, UNKNOWN_FACTS } from "./facts.js";
import { readCanaryLimits } from "./limits.js";
import { toDynamicMetadata, toMetadata } from "./metadata.js";
import { isCanary } from "./verdict.js";

/** Tells facts about a request and whether it may be a canary. Changes nothing, routes nothing, refuses nothing. */
export class CountRole implements Role {
  constructor(
    private readonly counter: TokenCounter,
    private readonly limits: TokenLimits,
  ) {}

  begin(exchange: Exchange): Job {
    return {
      onRequestHeaders: (isWhole) => (isWhole ? tell(exchange, UNKNOWN_FACTS) : {}),
      onRequestBody: async (body) =>
        tell(exchange, await this.readFacts(exchange, body).catch(() => UNKNOWN_FACTS)),
    };
  }

  private async readFacts({ headers }: Exchange, body: Buffer): Promise<RequestFacts> {
    const path = pathOf(headers);
    const plain = await decodeBody(body, headers.get("content-encoding"), this.limits.maxParseBytes);
    const json = plain && parseObject(plain);
    if (json === undefined) return UNKNOWN_FACTS;
    const { prompt, ...facts } = readBodyFacts(path, json);
    if (prompt === undefined) return { ...facts, exact: false };
    const { tokens, isExact } = await this.counter.count(facts.model, prompt, facts.media);
    return { ...facts, promptTokens: tokens, exact: isExact };
  }
}

function tell(exchange: Exchange, facts: RequestFacts): Answer {
  const canary = isCanary(facts, readCanaryLimits(exchange.attributes));
  return { dynamicMetadata: toDynamicMetadata(toMetadata(facts, canary)) };
}
