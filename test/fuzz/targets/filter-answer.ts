import assert from "node:assert/strict";
import { ANSWER_WORDS, ANSWERS, STREAMS } from "../corpus/answers.js";
import { FilterParsers } from "../support/filter-parsers.js";
import { cutAnywhere } from "../support/pieces.js";
import type { Random } from "../support/random.js";
import { isWellFormed, occurrences, sizeClass, strictJson } from "../support/told.js";
import type { Session, Target } from "../target.js";

/** In the order of `answerFacts` in test/fuzz/filter/bodies.ts. */
enum Fact {
  Intact,
  FirstToken,
  ErrorSeen,
  DoneSeen,
  DoneMarkSeen,
  Malformed,
  Complete,
  Finish,
  ErrorKind,
  ErrorTextLength,
  ErrorCode,
  Events,
  BegunChoices,
  FinishedChoices,
  PromptTokens,
  CompletionTokens,
  Whole,
}

const FACTS = Fact.Whole + 1;
const ERROR_ROOM = 512;
const MAX_INT = 0x7fff_ffff;

interface Facts {
  readonly numbers: Int32Array;
  readonly errorText: Buffer;
  /** All of it, to be compared. */
  readonly all: string;
}

class AnswerSession implements Session {
  private readonly parsers = new FilterParsers();

  constructor(private readonly isEventStream: boolean) {}

  run(bytes: Buffer, random: Random): string {
    const whole = this.read([bytes]);
    const { numbers } = whole;
    if (this.read(cutAnywhere(bytes, random)).all !== whole.all)
      assert.fail("cut otherwise it tells something else");
    if (random.oneIn(64)) {
      const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
      assert.equal(this.read(single).all, whole.all, "byte by byte it tells something else");
    }
    for (const fact of [Fact.ErrorCode, Fact.PromptTokens, Fact.CompletionTokens])
      assert.ok(fact in numbers && (numbers[fact] ?? -2) >= -1, Fact[fact]);
    if (!this.isEventStream) judgeBody(bytes, whole);
    const told = numbers.map((number) =>
      Math.abs(number) > 40 ? sizeClass(Math.abs(number)) + 100 : number,
    );
    told[Fact.ErrorTextLength] = sizeClass(numbers[Fact.ErrorTextLength] ?? 0);
    told[Fact.Events] = sizeClass(numbers[Fact.Events] ?? 0);
    return numbers.slice(1).every((number) => number <= 0) ? "" : told.join();
  }

  memoryBytes(): number {
    return this.parsers.byteLength;
  }

  private read(pieces: readonly Buffer[]): Facts {
    const { call } = this.parsers;
    call.answerReset?.(this.isEventStream ? 1 : 0);
    for (const piece of pieces) this.parsers.ask("answerFeed", piece);
    call.answerEnd?.();
    const facts = this.facts();
    call.answerEnd?.();
    if (this.facts().all !== facts.all) assert.fail("a second end changes something");
    if (facts.numbers[Fact.Intact] !== 1) assert.fail("wrote beside the reader");
    return facts;
  }

  private facts(): Facts {
    const textAt = this.parsers.call.answerFacts?.() ?? 0;
    const numbers = this.parsers.numbers(this.parsers.call.factsAt?.() ?? 0, FACTS);
    const length = numbers[Fact.ErrorTextLength] ?? 0;
    if (length < 0 || length > ERROR_ROOM) assert.fail("the error's text is longer than its room");
    const errorText = this.parsers.read(textAt, length);
    return { numbers, errorText, all: numbers.join() + errorText.toString("latin1") };
  }
}

/** Of what is JSON to everybody, the same is read as everybody reads. */
function judgeBody(bytes: Buffer, { numbers, errorText }: Facts): void {
  const json = strictJson(bytes);
  if (json === undefined) return;
  const { value, text } = json;
  const isObject = typeof value === "object" && value !== null;
  if (isObject) assert.equal(numbers[Fact.Complete], 1, "good JSON is not complete");
  if (!isObject || text.includes("\\u")) return;
  const { usage, error } = value as { usage?: Record<string, unknown>; error?: Record<string, unknown> };
  const once = (...words: string[]) => words.every((word) => occurrences(text, `"${word}"`) === 1);
  const count = usage?.prompt_tokens;
  if (once("usage", "prompt_tokens") && !text.includes("input_") && isCount(count))
    assert.equal(numbers[Fact.PromptTokens], count);
  const message = error?.message;
  if (!once("error", "message") || text.includes('"detail') || text.includes('"innererror')) return;
  if (typeof message !== "string" || Array.isArray(error) || !isWellFormed(message)) return;
  assert.equal(numbers[Fact.ErrorSeen], 1, "an error is not seen");
  const kept = Buffer.from(message).subarray(0, errorText.length);
  assert.deepEqual(errorText, kept, "the error's text is another one");
  assert.ok(errorText.length === Buffer.byteLength(message) || errorText.length > ERROR_ROOM - 4);
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_INT;
}

const parsers = [
  "answer",
  "answer-event",
  "answer-facts",
  "answer-keys",
  "answer-values",
  "json-scanner",
  "json-scalar",
  "json-state",
  "json-string",
  "text-room",
  "scan",
  "text",
].map((name) => `filter/bytes/${name}.ts`);
const toBuffers = (texts: readonly string[]) => texts.map((text) => Buffer.from(text));

export const filterStream: Target = {
  name: "filter-stream",
  parsers: [...parsers, "filter/bytes/sse.ts"],
  seeds: toBuffers([...STREAMS, ...ANSWERS]),
  words: ANSWER_WORDS,
  open: () => new AnswerSession(true),
};

export const filterAnswer: Target = {
  name: "filter-answer",
  parsers,
  seeds: toBuffers(ANSWERS),
  words: ANSWER_WORDS,
  open: () => new AnswerSession(false),
};
