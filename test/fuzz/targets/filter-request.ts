import assert from "node:assert/strict";
import { BODIES, REQUEST_WORDS } from "../corpus/requests.js";
import { FilterParsers } from "../support/filter-parsers.js";
import { cutAnywhere } from "../support/pieces.js";
import type { Random } from "../support/random.js";
import { isWellFormed, occurrences, sizeClass, strictJson } from "../support/told.js";
import type { Session, Target } from "../target.js";

/** In the order of `peekFacts` in test/fuzz/filter/bodies.ts. */
enum Fact {
  Intact,
  Stream,
  Complete,
  Malformed,
  ModelTruncated,
  MaxTokens,
  N,
  ModelLength,
  Ambiguous,
  NamesModel,
  HasModelKey,
}

const FACTS = Fact.HasModelKey + 1;
const MODEL_ROOM = 128;
const MAX_INT = 0x7fff_ffff;

interface Facts {
  readonly numbers: Int32Array;
  /** All of it, to be compared. */
  readonly all: string;
  readonly model: string;
}

class RequestSession implements Session {
  private readonly parsers = new FilterParsers();

  run(bytes: Buffer, random: Random): string {
    const whole = this.read([bytes]);
    if (this.read(cutAnywhere(bytes, random)).all !== whole.all)
      assert.fail("cut otherwise it tells something else");
    const { numbers } = whole;
    for (const fact of [Fact.Stream, Fact.MaxTokens, Fact.N])
      assert.ok((numbers[fact] ?? -2) >= -1, Fact[fact]);
    judge(bytes, whole);
    if (numbers[Fact.Malformed] === 1 && (numbers[Fact.ModelLength] ?? 0) < 0) return "";
    return Array.from(numbers, sizeClass).join();
  }

  memoryBytes(): number {
    return this.parsers.byteLength;
  }

  private read(pieces: readonly Buffer[]): Facts {
    this.parsers.call.peekReset?.();
    for (const piece of pieces) this.parsers.ask("peekFeed", piece);
    const modelAt = this.parsers.call.peekFacts?.() ?? 0;
    const numbers = this.parsers.numbers(this.parsers.call.factsAt?.() ?? 0, FACTS);
    assert.equal(numbers[Fact.Intact], 1, "wrote beside the peek");
    const length = numbers[Fact.ModelLength] ?? 0;
    assert.ok(length <= MODEL_ROOM, "the model's name is longer than its room");
    const model = this.parsers.read(modelAt, Math.max(0, length)).toString("utf8");
    return { numbers, model, all: numbers.join() + model };
  }
}

/** What is JSON to everybody is read as everybody reads it, where no key stands twice. */
function judge(bytes: Buffer, { numbers, model }: Facts): void {
  const json = strictJson(bytes);
  if (json === undefined) return;
  const { value, text } = json;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  assert.equal(numbers[Fact.Complete] === 1, isObject, "it is complete exactly when it is an object");
  if (!isObject || text.includes("\\u")) return;
  const body = value as Record<string, unknown>;
  const isOnce = (word: string) => occurrences(text, `"${word}"`) === 1 && Object.hasOwn(body, word);
  if (isOnce("model")) {
    const name = body.model;
    assert.equal(numbers[Fact.Ambiguous], 0, "one model is two");
    if (typeof name !== "string") assert.equal(numbers[Fact.NamesModel], 0);
    else if (Buffer.byteLength(name) <= MODEL_ROOM) {
      assert.equal(numbers[Fact.NamesModel], 1, "the model is not told");
      if (isWellFormed(name)) assert.equal(model, name);
    } else assert.equal(numbers[Fact.ModelTruncated], 1);
  }
  if (isOnce("stream") && typeof body.stream === "boolean")
    assert.equal(numbers[Fact.Stream], body.stream ? 1 : 0);
  if (isOnce("n") && Number.isInteger(body.n)) {
    const count = body.n as number;
    if (count >= 0 && count <= MAX_INT && !Object.is(count, -0)) assert.equal(numbers[Fact.N], count);
  }
}

export const filterRequest: Target = {
  name: "filter-request",
  parsers: ["filter/bytes/request-peek.ts"],
  seeds: BODIES.map((text) => Buffer.from(text)),
  words: REQUEST_WORDS,
  open: () => new RequestSession(),
};
