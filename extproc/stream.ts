import type { ServerDuplexStream } from "@grpc/grpc-js";
import type { Logger } from "pino";
import { readAttributes } from "./attributes.js";
import {
  type Answer,
  MESSAGE_KINDS,
  type MessageKind,
  type ProcessingRequest,
  type ProcessingResponse,
  toResponse,
} from "./messages.js";
import { readRequestHeaders } from "./request-headers.js";
import type { Exchange, Role } from "./role.js";
import { describeRequest } from "./telemetry/request-fields.js";

type Call = ServerDuplexStream<ProcessingRequest, ProcessingResponse>;

enum Phase {
  /** No request headers yet; a stream may begin with anything. */
  AwaitingHeaders,
  AwaitingBody,
  /** The role has said all it has to say. */
  Answered,
  /** Cancelled, broken or ended: nothing may be written any more. */
  Closed,
}

const CONTINUE: Answer = {};

/**
 * One ext_proc stream. Messages are answered strictly in order, one at a time, each exactly once; whatever the
 * role throws becomes a plain CONTINUE. After the body's answer we end the call, so that a model's answer of
 * minutes does not hold a gRPC stream.
 */
export class ProcessingStream {
  private phase = Phase.AwaitingHeaders;
  private exchange: Exchange = { headers: new Map(), attributes: new Map() };
  private tail: Promise<void> = Promise.resolve();

  constructor(
    private readonly call: Call,
    private readonly role: Role | undefined,
    private readonly log: Logger,
  ) {
    call.on("data", (message: ProcessingRequest) => this.enqueue(() => this.handle(message)));
    call.on("end", () => this.enqueue(async () => this.end()));
    // A cancel is how Envoy ends most side streams; grpc-js reports some of them as errors too.
    call.on("cancelled", () => this.close());
    call.on("error", () => this.close());
  }

  private enqueue(step: () => Promise<void>): void {
    this.tail = this.tail.then(step).catch((cause: unknown) => {
      this.log.error({ err: cause, ...describeRequest(this.exchange.headers) }, "stream failed");
      this.close();
    });
  }

  private async handle(message: ProcessingRequest): Promise<void> {
    if (this.phase === Phase.Closed) return;
    const kind = message.request;
    if (kind === undefined || !MESSAGE_KINDS.includes(kind)) return;
    const answer = await this.answer(kind, message).catch((cause: unknown) => {
      this.log.error(
        { err: cause, kind, ...describeRequest(this.exchange.headers) },
        "role failed, request continues",
      );
      return CONTINUE;
    });
    this.write(kind, answer);
    if (this.phase === Phase.Answered) this.end();
  }

  private async answer(kind: MessageKind, message: ProcessingRequest): Promise<Answer> {
    const attributes = readAttributes(message);
    if (attributes.size > 0) this.exchange = { ...this.exchange, attributes };
    if (this.role === undefined) return CONTINUE;
    if (kind === "request_headers" && this.phase === Phase.AwaitingHeaders)
      return this.onHeaders(this.role, message);
    if (kind === "request_body" && this.phase !== Phase.Answered) return this.onBody(this.role, message);
    return CONTINUE;
  }

  private async onHeaders(role: Role, message: ProcessingRequest): Promise<Answer> {
    const isWhole = message.request_headers?.end_of_stream === true;
    this.exchange = { ...this.exchange, headers: readRequestHeaders(message.request_headers) };
    this.advance(isWhole ? Phase.Answered : Phase.AwaitingBody);
    return role.onRequestHeaders(this.exchange, isWhole);
  }

  private async onBody(role: Role, message: ProcessingRequest): Promise<Answer> {
    this.advance(Phase.Answered);
    return role.onRequestBody(this.exchange, Buffer.from(message.request_body?.body ?? []));
  }

  private advance(next: Phase): void {
    if (this.phase !== Phase.Closed) this.phase = next;
  }

  private write(kind: MessageKind, answer: Answer): void {
    if (this.phase === Phase.Closed || this.call.cancelled) return;
    this.call.write(toResponse(kind, answer));
  }

  private end(): void {
    if (this.phase === Phase.Closed) return;
    this.phase = Phase.Closed;
    if (!this.call.cancelled) this.call.end();
  }

  private close(): void {
    this.phase = Phase.Closed;
  }
}
