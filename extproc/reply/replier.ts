import type { JsonRecord } from "../body/json.js";
import type { ImmediateAnswer } from "../messages.js";
import { pathOf } from "../request-headers.js";
import type { Exchange } from "../role.js";
import type { Warn } from "../telemetry/warn-once.js";
import { answerOfText, type CompleteAnswer } from "./answer.js";
import { type Ask, readAsk } from "./ask.js";
import { type Instruction, readInstruction } from "./instruction.js";
import { writeAnswer } from "./write.js";

/** An answer that was good once, and how old it is. */
export interface RememberedAnswer {
  readonly answer: CompleteAnswer;
  readonly ageSeconds: number;
}

/** Where good answers are looked up: by the same caller's same request only. */
export interface Memory {
  recall(exchange: Exchange, body: JsonRecord): RememberedAnswer | undefined;
  /** Whether no answer at all was ever remembered. */
  readonly isUnused: boolean;
}

const NOTHING_REMEMBERED =
  "a chain's exhausted.action is cached, but no answer was remembered yet: is llm.breaker.remember on for its routes?";
const DETAILS = "llm_breaker_exhausted";
const OK = 200;

/** Answers in the place of a chain none of whose tiers can. */
export class Replier {
  constructor(
    private readonly memory: Memory,
    private readonly warn: Warn,
  ) {}

  /** Undefined when there is nothing to say: the gate's own JSON error is the answer then. */
  reply(exchange: Exchange, body: JsonRecord): ImmediateAnswer | undefined {
    const instruction = readInstruction(exchange.attributes);
    const ask = readAsk(pathOf(exchange.headers), body);
    if (instruction === undefined || ask === undefined) return undefined;
    return instruction.action === "fixed"
      ? give(answerOfText(ask.model, instruction.text), ask, instruction.status, "fixed")
      : this.recall(exchange, body, ask, instruction);
  }

  private recall(
    exchange: Exchange,
    body: JsonRecord,
    ask: Ask,
    { maxAgeSeconds }: Extract<Instruction, { action: "cached" }>,
  ): ImmediateAnswer | undefined {
    const remembered = this.memory.recall(exchange, body);
    if (this.memory.isUnused) this.warn(NOTHING_REMEMBERED);
    if (remembered === undefined || remembered.ageSeconds > maxAgeSeconds) return undefined;
    return give(remembered.answer, ask, OK, "cached", { age: String(Math.floor(remembered.ageSeconds)) });
  }
}

function give(
  answer: CompleteAnswer,
  ask: Ask,
  status: number,
  source: "fixed" | "cached",
  more: Readonly<Record<string, string>> = {},
): ImmediateAnswer {
  const { contentType, body } = writeAnswer(answer, ask);
  const marks = { "x-llm-breaker-reason": "exhausted", "x-llm-breaker-answer": source };
  return {
    status,
    headers: { "content-type": contentType, "cache-control": "no-store", ...marks, ...more },
    body,
    details: DETAILS,
  };
}
