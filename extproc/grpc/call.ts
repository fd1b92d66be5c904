import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { FramingError, MessageSplitter } from "./framing.js";
import { Status } from "./status.js";

/** What happens to one call. */
export interface CallHandler {
  /** What it throws ends the call with an error. */
  onMessage(message: Buffer): void;
  /** The peer sends nothing more. */
  onHalfClose(): void;
  /** After a `write` that gave false: the peer has read. */
  onDrain?(): void;
  /** The call is over, whatever ended it; once. Nothing may be written any more. */
  onClose(): void;
}

const STATUS_OF = { "too large": Status.ResourceExhausted, compressed: Status.Unimplemented } as const;
const RESPONSE = { ":status": 200, "content-type": "application/grpc" };
const ENDS_WITH_TRAILERS = { waitForTrailers: true, sendDate: false };
const ENDS_AT_ONCE = { endStream: true, sendDate: false };

/** The server's side of one gRPC call, streaming both ways, over an HTTP/2 stream. Messages are bytes. */
export class GrpcCall {
  private readonly splitter: MessageSplitter;
  private trailers: Record<string, string> = { "grpc-status": "0" };
  private hasResponded = false;
  /** We have written all we had to. */
  private hasEnded = false;
  private isClosed = false;

  constructor(
    private readonly stream: ServerHttp2Stream,
    private readonly headers: IncomingHttpHeaders,
    maxMessageBytes: number,
  ) {
    this.splitter = new MessageSplitter(maxMessageBytes);
    // Resets and broken connections; "close" follows and tells the handler.
    stream.on("error", () => {});
  }

  /** One value of the call's initial metadata. */
  metadata(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /** To be called once, before the event loop turns. */
  handle(handler: CallHandler): void {
    const { stream } = this;
    stream.on("data", (bytes: Buffer) => this.feed(bytes, handler));
    stream.on("end", () => handler.onHalfClose());
    // A reset is told at once by "aborted"; "close" waits until what was read ahead is consumed.
    stream.on("aborted", () => this.close(handler));
    stream.on("close", () => this.close(handler));
    if (handler.onDrain) stream.on("drain", () => handler.onDrain?.());
  }

  /** Sends a framed message. False when the peer does not read: `onDrain` follows. */
  write(message: Buffer): boolean {
    if (!this.mayWrite()) return true;
    this.respond();
    return this.stream.write(message);
  }

  /** Ends the call well, perhaps with a last framed message. */
  finish(message?: Buffer): void {
    if (!this.mayWrite()) return;
    this.hasEnded = true;
    this.respond();
    this.stream.end(message);
    this.expectReset();
    this.discardRest();
  }

  /** Ends the call with an error. */
  fail(code: Status, message: string): void {
    if (!this.mayWrite()) return;
    this.hasEnded = true;
    this.trailers = { "grpc-status": String(code), "grpc-message": encodeURIComponent(message) };
    if (this.hasResponded) this.stream.end();
    else this.stream.respond({ ...RESPONSE, ...this.trailers }, ENDS_AT_ONCE);
    this.discardRest();
  }

  /** Stops reading; HTTP/2's flow control then holds the peer back. */
  pause(): void {
    this.stream.pause();
  }

  resume(): void {
    this.stream.resume();
  }

  private feed(bytes: Buffer, handler: CallHandler): void {
    if (this.hasEnded) return;
    try {
      this.splitter.feed(bytes, (message) => handler.onMessage(message));
    } catch (cause) {
      if (cause instanceof FramingError) this.fail(STATUS_OF[cause.reason], cause.message);
      else this.fail(Status.Internal, "the message can't be read");
      this.close(handler);
    }
  }

  private close(handler: CallHandler): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.hasEnded = true;
    this.discardRest();
    handler.onClose();
  }

  private respond(): void {
    if (this.hasResponded) return;
    this.hasResponded = true;
    this.stream.respond(RESPONSE, ENDS_WITH_TRAILERS);
    this.stream.on("wantTrailers", () => this.stream.sendTrailers(this.trailers));
  }

  /**
   * Envoy resets a stream that we have ended with INTERNAL_ERROR, and Node makes an error of that, stack and all, which
   * nobody reads: a quarter of what a request costs. With a code that is none it does not.
   */
  private expectReset(): void {
    Object.defineProperty(this.stream, "rstCode", { value: constants.NGHTTP2_NO_ERROR });
  }

  /** What still comes is of no interest, but a stream is over only when it has been read to its end. */
  private discardRest(): void {
    this.stream.resume();
  }

  private mayWrite(): boolean {
    const { stream } = this;
    return !this.hasEnded && !stream.destroyed && !stream.closed && !stream.aborted;
  }
}

/** Requests that are no gRPC call, as the protocol asks for. */
export function refuseOther(stream: ServerHttp2Stream): void {
  stream.on("error", () => {});
  stream.respond({ ":status": constants.HTTP_STATUS_UNSUPPORTED_MEDIA_TYPE }, ENDS_AT_ONCE);
  stream.resume();
}
