import type { Logger } from "pino";
import type { Answer, MessageKind } from "./messages.js";
import type { RequestHeaders } from "./request-headers.js";
import type { Job, Role } from "./role.js";
import { describeRequest } from "./telemetry/request-fields.js";
import type { Trace } from "./traces/trace.js";
import { readTraceParent } from "./traces/trace-parent.js";
import type { Message } from "./wire/processing-request.js";

/** How far one HTTP exchange has got; it only goes forward. */
enum Phase {
  /** No headers yet; a stream may begin with anything. */
  Start,
  Request,
  Response,
  Over,
}

const CONTINUE: Answer = {};

/**
 * What one stream's messages mean to its job. Messages that no job asked for, or that come out of order, are a plain
 * CONTINUE, and so is whatever a role throws or rejects.
 */
export class Conversation {
  private phase = Phase.Start;
  private job: Job | undefined;
  private headers: RequestHeaders = new Map();
  private wantsMore = false;

  constructor(
    private readonly role: Role | undefined,
    private readonly log: Logger,
    /** For the log, also where no spans are made here. */
    private readonly traceParent?: string,
    private readonly trace?: Trace,
  ) {}

  /** The answer to one message; the next may be asked for only when this one is there. Never throws or rejects. */
  answer(message: Message): Answer | Promise<Answer> {
    const { kind } = message;
    try {
      const answer = this.ask(message);
      return answer instanceof Promise ? answer.catch((cause: unknown) => this.fail(kind, cause)) : answer;
    } catch (cause) {
      return this.fail(kind, cause);
    }
  }

  /** Whether the stream has nothing left to say after this answer. A stream without a job is for Envoy to end. */
  isLast({ kind, isEnd }: Message, answer: Answer): boolean {
    if (answer.immediate !== undefined) return true;
    if (answer.more !== undefined) this.wantsMore = answer.more;
    if (this.job === undefined) return false;
    switch (kind) {
      case "request_headers":
        return isEnd && !this.wantsMore;
      case "request_body":
      case "request_trailers":
        return !this.wantsMore;
      default:
        return isEnd || !this.wantsMore;
    }
  }

  /** The stream is over; tells the job, once. */
  end(): void {
    if (this.phase === Phase.Over) return;
    this.phase = Phase.Over;
    try {
      this.job?.onEnd?.();
    } catch (cause) {
      this.trace?.fail(cause);
      this.log.error({ err: cause, ...this.describe() }, "role failed at a stream's end");
    }
    this.trace?.end();
  }

  private ask(message: Message): Answer | Promise<Answer> {
    const { kind, body, isEnd } = message;
    if (kind === "request_headers") return this.onRequestHeaders(message);
    if (kind === "request_body") {
      if (this.phase !== Phase.Request) return CONTINUE;
      return this.job?.onRequestBody(body, isEnd) ?? CONTINUE;
    }
    if (kind === "request_trailers") return CONTINUE;
    if (kind === "response_headers") return this.onResponseHeaders(message);
    if (this.phase !== Phase.Response || !this.wantsMore) return CONTINUE;
    if (kind === "response_trailers") return this.job?.onResponseTrailers?.() ?? CONTINUE;
    return this.job?.onResponseBody?.(body, isEnd) ?? CONTINUE;
  }

  private onRequestHeaders({ headers, attributes, isEnd }: Message): Answer | Promise<Answer> {
    if (this.phase !== Phase.Start || this.role === undefined) return CONTINUE;
    this.phase = Phase.Request;
    this.headers = headers;
    this.job = this.role.begin({ headers, attributes, trace: this.trace });
    return this.job.onRequestHeaders(isEnd);
  }

  private onResponseHeaders({ headers, isEnd }: Message): Answer | Promise<Answer> {
    if (this.phase >= Phase.Response) return CONTINUE;
    this.phase = Phase.Response;
    if (!this.wantsMore) return CONTINUE;
    const status = Number(headers.get(":status"));
    return this.job?.onResponseHeaders?.(status, headers, isEnd) ?? CONTINUE;
  }

  private fail(kind: MessageKind, cause: unknown): Answer {
    this.trace?.fail(cause);
    this.log.error({ err: cause, kind, ...this.describe() }, "role failed, request continues");
    return CONTINUE;
  }

  private describe(): Record<string, string> {
    const fields = describeRequest(this.headers);
    const parent = readTraceParent(this.traceParent);
    return parent === undefined ? fields : { ...fields, trace_id: parent.traceId };
  }
}
