import { decodeBody } from "../body/coding.js";
import { parseObject } from "../body/json.js";
import type { Answer } from "../messages.js";
import { type Dialect, dialectOf } from "../reply/ask.js";
import { pathOf, type RequestHeaders } from "../request-headers.js";
import type { Exchange, Job, Role } from "../role.js";
import type { AnswerCache } from "./answer-cache.js";
import { Collector } from "./collector.js";
import { readAnswer } from "./read-answer.js";

const OK = 200;
const MORE: Answer = { more: true };
const ENOUGH: Answer = { more: false };

/**
 * Watches requests and their answers go by (Envoy's observability mode: nobody waits for us) and keeps the good answers of
 * callers that can be told apart.
 */
export class RememberRole implements Role {
  constructor(
    private readonly cache: AnswerCache,
    private readonly maxBytes: number,
  ) {}

  begin(exchange: Exchange): Job {
    const dialect = dialectOf(pathOf(exchange.headers));
    const isWanted = dialect !== undefined && exchange.headers.get(":method") === "POST" && this.cache.isOn;
    return isWanted && this.cache.hasCaller(exchange)
      ? new RememberJob(exchange, dialect, this.cache, this.maxBytes)
      : IGNORING;
  }
}

const IGNORING: Job = {
  onRequestHeaders: () => ENOUGH,
  onRequestBody: () => ENOUGH,
};

class RememberJob implements Job {
  private readonly request: Collector;
  private readonly answer: Collector;
  private isStream = false;

  constructor(
    private readonly exchange: Exchange,
    private readonly dialect: Dialect,
    private readonly cache: AnswerCache,
    private readonly maxBytes: number,
  ) {
    this.request = new Collector(maxBytes);
    this.answer = new Collector(maxBytes);
  }

  onRequestHeaders(): Answer {
    return MORE;
  }

  onRequestBody(piece: Buffer): Answer {
    this.request.add(piece);
    return MORE;
  }

  onResponseHeaders(status: number, headers: RequestHeaders): Answer {
    const contentType = headers.get("content-type") ?? "";
    this.isStream = contentType.startsWith("text/event-stream");
    const isLegible = this.isStream || contentType.startsWith("application/json");
    // Our own replies carry a reason; what can't be read here is not kept.
    const isOwn = headers.has("x-llm-breaker-reason");
    return status === OK && isLegible && !isOwn && !headers.has("content-encoding") ? MORE : ENOUGH;
  }

  async onResponseBody(piece: Buffer, isEnd: boolean): Promise<Answer> {
    this.answer.add(piece);
    if (!isEnd) return MORE;
    await this.keep();
    return ENOUGH;
  }

  async onResponseTrailers(): Promise<Answer> {
    await this.keep();
    return ENOUGH;
  }

  onEnd(): void {
    this.request.drop();
    this.answer.drop();
  }

  private async keep(): Promise<void> {
    const request = this.request.whole();
    const bytes = this.answer.whole();
    if (request === undefined || bytes === undefined) return;
    const coding = this.exchange.headers.get("content-encoding");
    const decoded = await decodeBody(request, coding, this.maxBytes);
    const body = decoded.kind === "plain" ? parseObject(decoded.bytes) : undefined;
    const answer = body && readAnswer(this.dialect, this.isStream, bytes);
    if (body && answer) this.cache.remember(this.exchange, body, answer);
  }
}
