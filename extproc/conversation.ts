import type { Logger } from "pino";
import { readAttributes } from "./attributes.js";
import type { Answer, HttpBody, HttpHeaders, MessageKind, ProcessingRequest } from "./messages.js";
import { type RequestHeaders, readRequestHeaders } from "./request-headers.js";
import type { Job, Role } from "./role.js";
import { describeRequest } from "./telemetry/request-fields.js";

/** How far one HTTP exchange has got; it only goes forward. */
enum Phase {
  /** No headers yet; a stream may begin with anything. */
  Start,
  Request,
  Response,
  Over,
}

const CONTINUE: Answer = {};
const NO_BYTES = Buffer.alloc(0);

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
  ) {}

  /** The answer to one message; the next may be asked for only when this one is there. Never throws or rejects. */
  answer(kind: MessageKind, message: ProcessingRequest): Answer | Promise<Answer> {
    try {
      const answer = this.ask(kind, message);
      return answer instanceof Promise ? answer.catch((cause: unknown) => this.fail(kind, cause)) : answer;
    } catch (cause) {
      return this.fail(kind, cause);
    }
  }

  /** Whether the stream has nothing left to say after this answer. A stream without a job is for Envoy to end. */
  isLast(kind: MessageKind, message: ProcessingRequest, answer: Answer): boolean {
    if (answer.immediate !== undefined) return true;
    if (answer.more !== undefined) this.wantsMore = answer.more;
    if (this.job === undefined) return false;
    switch (kind) {
      case "request_headers":
        return !this.wantsMore && message.request_headers?.end_of_stream === true;
      case "request_body":
      case "request_trailers":
        return !this.wantsMore;
      case "response_trailers":
        return true;
      default:
        return !this.wantsMore || message[kind]?.end_of_stream === true;
    }
  }

  /** The stream is over; tells the job, once. */
  end(): void {
    if (this.phase === Phase.Over) return;
    this.phase = Phase.Over;
    try {
      this.job?.onEnd?.();
    } catch (cause) {
      this.log.error({ err: cause, ...describeRequest(this.headers) }, "role failed at a stream's end");
    }
  }

  private ask(kind: MessageKind, message: ProcessingRequest): Answer | Promise<Answer> {
    if (kind === "request_headers") return this.onRequestHeaders(message, message.request_headers);
    if (kind === "request_body") return this.onRequestBody(message.request_body);
    if (kind === "request_trailers") return CONTINUE;
    if (kind === "response_headers") return this.onResponseHeaders(message.response_headers);
    if (this.phase !== Phase.Response || !this.wantsMore) return CONTINUE;
    if (kind === "response_trailers") return this.job?.onResponseTrailers?.() ?? CONTINUE;
    return this.job?.onResponseBody?.(...pieceOf(message.response_body)) ?? CONTINUE;
  }

  private onRequestHeaders(
    message: ProcessingRequest,
    part: HttpHeaders | undefined,
  ): Answer | Promise<Answer> {
    if (this.phase !== Phase.Start || this.role === undefined) return CONTINUE;
    this.phase = Phase.Request;
    this.headers = readRequestHeaders(part);
    this.job = this.role.begin({ headers: this.headers, attributes: readAttributes(message) });
    return this.job.onRequestHeaders(part?.end_of_stream === true);
  }

  private onRequestBody(part: HttpBody | undefined): Answer | Promise<Answer> {
    if (this.phase !== Phase.Request) return CONTINUE;
    return this.job?.onRequestBody(...pieceOf(part)) ?? CONTINUE;
  }

  private onResponseHeaders(part: HttpHeaders | undefined): Answer | Promise<Answer> {
    if (this.phase >= Phase.Response) return CONTINUE;
    this.phase = Phase.Response;
    if (!this.wantsMore) return CONTINUE;
    const headers = readRequestHeaders(part);
    const status = Number(headers.get(":status"));
    return this.job?.onResponseHeaders?.(status, headers, part?.end_of_stream === true) ?? CONTINUE;
  }

  private fail(kind: MessageKind, cause: unknown): Answer {
    this.log.error({ err: cause, kind, ...describeRequest(this.headers) }, "role failed, request continues");
    return CONTINUE;
  }
}

function pieceOf(part: HttpBody | undefined): [Buffer, boolean] {
  return [bufferOf(part?.body), part?.end_of_stream === true];
}

/** A view, not a copy: a body may be 16 MiB. */
function bufferOf(bytes: Uint8Array | undefined): Buffer {
  if (bytes === undefined) return NO_BYTES;
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
