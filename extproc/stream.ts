import type { ServerDuplexStream } from "@grpc/grpc-js";
import type { Logger } from "pino";
import { Conversation } from "./conversation.js";
import {
  type Answer,
  MESSAGE_KINDS,
  type MessageKind,
  type ProcessingRequest,
  type ProcessingResponse,
  toResponse,
} from "./messages.js";
import type { Role } from "./role.js";

type Call = ServerDuplexStream<ProcessingRequest, ProcessingResponse>;

/**
 * One ext_proc stream. Messages are answered strictly in order, one at a time, each exactly once. When the job has
 * seen all it asked for we end the call, so that a model's answer of minutes does not hold a gRPC stream.
 *
 * While an answer is being made, or the peer does not read, nothing more is read: what waits is what Node has read
 * ahead, and HTTP/2's flow control holds the rest back.
 */
export class ProcessingStream {
  private readonly conversation: Conversation;
  private readonly waiting: ProcessingRequest[] = [];
  private isBusy = false;
  private hasPeerEnded = false;
  private isClosed = false;

  constructor(
    private readonly call: Call,
    role: Role | undefined,
    log: Logger,
    private readonly onEnd: () => void,
  ) {
    this.conversation = new Conversation(role, log);
    call.on("data", (message: ProcessingRequest) => {
      this.waiting.push(message);
      this.work();
    });
    call.on("end", () => {
      this.hasPeerEnded = true;
      this.work();
    });
    // A cancel is how Envoy ends most side streams; grpc-js reports some of them as errors too.
    call.on("cancelled", () => this.close());
    call.on("error", () => this.close());
  }

  /** Answers what waits until a handler or the transport needs time. */
  private work(): void {
    while (!this.isBusy && !this.isClosed) {
      const message = this.waiting.shift();
      if (message !== undefined) this.handle(message);
      else if (this.hasPeerEnded) this.end();
      else return;
    }
  }

  private handle(message: ProcessingRequest): void {
    const kind = message.request;
    if (kind === undefined || !MESSAGE_KINDS.includes(kind)) return;
    const answer = this.conversation.answer(kind, message);
    if (!(answer instanceof Promise)) {
      this.reply(kind, message, answer);
      return;
    }
    this.pause();
    // An answer never rejects.
    void answer.then((value) => {
      this.isBusy = false;
      this.reply(kind, message, value);
      this.resume();
    });
  }

  private reply(kind: MessageKind, message: ProcessingRequest, answer: Answer): void {
    if (this.isClosed) return;
    const isLast = this.conversation.isLast(kind, message, answer);
    const hasRoom = message.observability_mode === true || this.call.write(toResponse(kind, answer));
    if (isLast) {
      this.end();
    } else if (!hasRoom) {
      this.pause();
      this.call.once("drain", () => {
        this.isBusy = false;
        this.resume();
      });
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

  private end(): void {
    if (this.isClosed) return;
    this.close();
    this.call.end();
    // What still comes is of no interest, but the transport ends only when it has been read.
    this.call.resume();
  }

  private close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.waiting.length = 0;
    this.conversation.end();
    this.onEnd();
  }
}
