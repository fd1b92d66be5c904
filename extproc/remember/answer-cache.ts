import { LRUCache } from "lru-cache";
import type { JsonRecord } from "../body/json.js";
import { callerOf } from "../callers/caller.js";
import type { CallerSettings } from "../callers/settings.js";
import type { CompleteAnswer } from "../reply/answer.js";
import type { Memory, RememberedAnswer } from "../reply/replier.js";
import { pathOf } from "../request-headers.js";
import type { Exchange } from "../role.js";
import { keyOf } from "./key.js";
import type { CacheSettings } from "./settings.js";

interface Entry {
  readonly answer: CompleteAnswer;
  readonly atMs: number;
}

/** Key, entry and their place in the cache. Bytes, roughly. */
const ENTRY_BYTES = 500;
/** A tool call and its three texts, however short they are. Bytes. */
const CALL_BYTES = 200;
/** V8 keeps a text in one or two bytes a character; two is the safe side. */
const BYTES_PER_CHARACTER = 2;

/** The last good answers of each caller to each of his requests, in bounded memory. Never one caller's to another. */
export class AnswerCache implements Memory {
  private readonly entries: LRUCache<string, Entry> | undefined;
  isUnused = true;

  /** @param now monotonic milliseconds */
  constructor(
    settings: CacheSettings,
    private readonly callers: CallerSettings,
    private readonly now: () => number = () => performance.now(),
  ) {
    if (settings.maxBytes > 0 && settings.maxAge > 0)
      this.entries = new LRUCache({
        maxSize: settings.maxBytes,
        sizeCalculation: ({ answer }) => ENTRY_BYTES + sizeOf(answer),
        ttl: settings.maxAge,
        perf: { now: this.now },
        ttlResolution: 0,
      });
  }

  get isOn(): boolean {
    return this.entries !== undefined;
  }

  /** A request without a caller's mark is nobody's: its answer might be given to anybody. */
  hasCaller(exchange: Exchange): boolean {
    return callerOf(exchange.headers, this.callers) !== undefined;
  }

  remember(exchange: Exchange, body: JsonRecord, answer: CompleteAnswer): void {
    const key = this.keyOf(exchange, body);
    if (key === undefined) return;
    this.isUnused = false;
    this.entries?.set(key, { answer: compact(answer), atMs: this.now() });
  }

  recall(exchange: Exchange, body: JsonRecord): RememberedAnswer | undefined {
    const key = this.keyOf(exchange, body);
    const entry = key === undefined ? undefined : this.entries?.get(key);
    return entry && { answer: entry.answer, ageSeconds: (this.now() - entry.atMs) / 1000 };
  }

  private keyOf(exchange: Exchange, body: JsonRecord): string | undefined {
    const caller = callerOf(exchange.headers, this.callers);
    return caller === undefined ? undefined : keyOf(caller, pathOf(exchange.headers), body);
  }
}

/** A text that was put together piece by piece is kept by V8 as its pieces, several times its length. */
function compact(answer: CompleteAnswer): CompleteAnswer {
  const toolCalls = answer.toolCalls.map((call) => ({ ...call, arguments: flat(call.arguments) }));
  return { ...answer, text: flat(answer.text), reasoning: flat(answer.reasoning), toolCalls };
}

function flat(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

function sizeOf({ model, text, reasoning, toolCalls }: CompleteAnswer): number {
  const texts = [
    model,
    text,
    reasoning,
    ...toolCalls.flatMap((call) => [call.id, call.name, call.arguments]),
  ];
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return BYTES_PER_CHARACTER * characters + CALL_BYTES * toolCalls.length;
}
