import type { Logger } from "pino";
import { type Message, sign, writeMessage } from "./message.js";
import type { Target } from "./target.js";

const MOST_WAITING = 256;
/** A message that is older is news to nobody. */
const TRIED_FOR_MS = 900_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Of these the receiver may think better. */
const TRIED_AGAIN = new Set([408, 425, 429]);

export const RESULTS = ["delivered", "failed", "refused", "expired", "dropped"] as const;

export type Result = (typeof RESULTS)[number];

export interface OutboxParts {
  readonly log: Pick<Logger, "info" | "warn">;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
  /** 0 to 1. */
  readonly random: () => number;
  readonly count: (label: string, result: Result) => void;
}

interface Waiting {
  readonly message: Message;
  readonly sinceMs: number;
}

/** The messages of one webhook, one after the other, each tried until it is taken, refused or too old. */
export class Outbox {
  private readonly waiting: Waiting[] = [];
  private failures = 0;
  private notBeforeMs = Number.NEGATIVE_INFINITY;
  private running: Promise<void> | undefined;
  private readonly stop = new AbortController();

  constructor(
    public target: Target,
    private readonly parts: OutboxParts,
  ) {}

  get size(): number {
    return this.waiting.length;
  }

  put(message: Message): void {
    this.waiting.push({ message, sinceMs: this.parts.now() });
    // The first one may be on its way.
    if (this.waiting.length > MOST_WAITING) this.drop(this.running === undefined ? 0 : 1, "dropped");
    this.pump();
  }

  /** Called from time to time: begins what is due. */
  pump(): void {
    if (this.running !== undefined || this.stop.signal.aborted) return;
    const now = this.parts.now();
    while (this.waiting[0] !== undefined && now - this.waiting[0].sinceMs >= TRIED_FOR_MS)
      this.drop(0, "expired");
    const [first] = this.waiting;
    if (first === undefined || now < this.notBeforeMs) return;
    this.running = this.tryOne(first).finally(() => {
      this.running = undefined;
      this.pump();
    });
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.running !== undefined) await this.running;
  }

  close(): void {
    this.stop.abort();
    this.waiting.length = 0;
  }

  private async tryOne(first: Waiting): Promise<void> {
    const answer = await this.post(first.message);
    if (this.stop.signal.aborted) return;
    if (typeof answer === "object" && answer.status >= 200 && answer.status < 300)
      return this.finish(first, "delivered");
    const problem = typeof answer === "string" ? answer : `status ${answer.status}`;
    const mayHelp = typeof answer === "string" || answer.status >= 500 || TRIED_AGAIN.has(answer.status);
    if (!mayHelp) return this.finish(first, "refused", problem);
    this.parts.count(this.target.label, "failed");
    this.waitFor(typeof answer === "string" ? 0 : answer.retryAfterMs, problem, first.message);
  }

  /** The answer, or what kept it from coming; nothing is thrown, and nothing of the URL's path is told. */
  private async post({ id, ...rest }: Message): Promise<Answer | string> {
    const { url, headers, secret, settings } = this.target;
    const body = writeMessage({ id, ...rest }, settings.template);
    const seconds = Math.floor(this.parts.wallNow() / 1000);
    try {
      const answer = await fetch(url, {
        method: "POST",
        body,
        redirect: "manual",
        signal: AbortSignal.any([this.stop.signal, AbortSignal.timeout(settings.timeout)]),
        headers: {
          ...headers,
          "content-type": "application/json",
          "user-agent": "llm-breaker",
          "webhook-id": id,
          "webhook-timestamp": String(seconds),
          ...(secret && { "webhook-signature": sign(secret, id, seconds, body) }),
        },
      });
      void answer.body?.cancel().catch(() => {});
      return { status: answer.status, retryAfterMs: this.retryAfterMs(answer.headers.get("retry-after")) };
    } catch (cause) {
      return problemOf(cause);
    }
  }

  private finish(first: Waiting, result: Result, problem?: string): void {
    const { label } = this.target;
    const { event, status, backend } = first.message.fact;
    if (this.waiting[0] === first) this.waiting.shift();
    this.parts.count(label, result);
    const fields = { webhook: label, event, status, backend };
    if (result === "refused")
      this.parts.log.warn({ ...fields, problem }, "webhook refuses a message, which is given up");
    else if (this.failures > 0) this.parts.log.info(fields, "webhook takes messages again");
    this.failures = 0;
    this.notBeforeMs = Number.NEGATIVE_INFINITY;
  }

  private waitFor(askedMs: number, problem: string, { fact }: Message): void {
    const backoffMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.failures, 16));
    const waitMs = Math.max(backoffMs * (0.5 + this.parts.random() / 2), askedMs);
    this.notBeforeMs = this.parts.now() + Math.min(waitMs, TRIED_FOR_MS);
    this.failures++;
    if (this.failures > 1) return;
    const fields = { webhook: this.target.label, event: fact.event, backend: fact.backend, problem };
    this.parts.log.warn(fields, "webhook can't be reached, tried again for 15 minutes");
  }

  private drop(index: number, result: "dropped" | "expired"): void {
    const [gone] = this.waiting.splice(index, 1);
    if (gone === undefined) return;
    this.parts.count(this.target.label, result);
    const { event, status, backend } = gone.message.fact;
    const why = result === "expired" ? "it is too old" : `more than ${MOST_WAITING} wait`;
    this.parts.log.warn(
      { webhook: this.target.label, event, status, backend },
      `webhook message is given up: ${why}`,
    );
  }

  /** Seconds, or a date. */
  private retryAfterMs(given: string | null): number {
    if (given === null) return 0;
    const ms = /^\d{1,9}$/.test(given.trim())
      ? Number(given) * 1000
      : Date.parse(given) - this.parts.wallNow();
    return Number.isFinite(ms) ? Math.max(0, ms) : 0;
  }
}

interface Answer {
  readonly status: number;
  readonly retryAfterMs: number;
}

/** A connection's error has the address, never the path. */
function problemOf(cause: unknown): string {
  const { name, cause: inner } = cause as Error & { cause?: { code?: string } };
  if (name === "TimeoutError") return "no answer in time";
  return inner?.code ?? "no connection";
}
