import type { Logger } from "pino";
import type { Conversation } from "./conversation.js";
import type { CallHandler, GrpcCall } from "./grpc/call.js";
import { Status } from "./grpc/status.js";
import type { Answer, MessageKind } from "./messages.js";
import { type Message, readProcessingRequest } from "./wire/processing-request.js";
import { writeProcessingResponse } from "./wire/processing-response.js";
import { WireError } from "./wire/reader.js";

/**
 * One ext_proc stream. Messages are answered strictly in order, one at a time, each exactly once. When the job has
 * seen all it asked for we end the call, so that a model's answer of minutes does not hold a gRPC stream.
 *
 * While an answer is being made, or the peer does not read, nothing more is read: what waits is what Node has read
 * ahead, and HTTP/2's flow control holds the rest back.
 */
export class ProcessingStream implements CallHandler {
  private readonly waiting: Buffer[] = [];
  private isBusy = false;
  private hasPeerEnded = false;
  private isClosed = false;

  constructor(
    private readonly call: GrpcCall,
    private readonly conversation: Conversation,
    private readonly log: Logger,
    private readonly onEnd: () => void,
  ) {}

  onMessage(bytes: Buffer): void {
    this.waiting.push(bytes);
    this.work();
  }

  onHalfClose(): void {
    this.hasPeerEnded = true;
    this.work();
  }

  onDrain(): void {
    this.isBusy = false;
    this.resume();
  }

  onClose(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.waiting.length = 0;
    this.conversation.end();
    this.onEnd();
  }

  /** Answers what waits until a handler or the transport needs time. */
  private work(): void {
    while (!this.isBusy && !this.isClosed) {
      const bytes = this.waiting.shift();
      if (bytes !== undefined) this.read(bytes);
      else if (this.hasPeerEnded) this.end();
      else return;
    }
  }

  private read(bytes: Buffer): void {
    try {
      const message = readProcessingRequest(bytes);
      if (message !== undefined) this.handle(message);
    } catch (cause) {
      if (!(cause instanceof WireError)) throw cause;
      this.call.fail(Status.Internal, cause.message);
      this.onClose();
    }
  }

  private handle(message: Message): void {
    const answer = this.conversation.answer(message);
    if (!(answer instanceof Promise)) {
      this.reply(message, answer);
      return;
    }
    this.pause();
    // An answer never rejects.
    void answer.then((value) => {
      this.isBusy = false;
      this.reply(message, value);
      this.resume();
    });
  }

  private reply(message: Message, answer: Answer): void {
    if (this.isClosed) return;
    const bytes = message.isObserved ? undefined : this.encode(message.kind, answer);
    if (this.conversation.isLast(message, answer)) this.end(bytes);
    else if (bytes !== undefined && !this.call.write(bytes)) this.pause();
  }

  /** A role's mistake in an answer must not cost the request either. */
  private encode(kind: MessageKind, answer: Answer): Buffer {
    try {
      return writeProcessingResponse(kind, answer);
    } catch (cause) {
      this.log.error({ err: cause, kind }, "answer can't be written, request continues");
      return writeProcessingResponse(kind, {});
    }
  }

  private pause(): void {
    this.isBusy = true;
    this.call.pause();
  }

  private resume(): void {
    this.work();
    if (!this.isBusy && !this.isClosed) this.call.resume();
  }

  private end(lastMessage?: Buffer): void {
    this.call.finish(lastMessage);
    this.onClose();
  }
}
