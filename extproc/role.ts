import type { Attributes } from "./attributes.js";
import type { Answer } from "./messages.js";
import type { RequestHeaders } from "./request-headers.js";
import type { Trace } from "./traces/trace.js";

/** What is known of one HTTP request when its stream begins. */
export interface Exchange {
  readonly headers: RequestHeaders;
  readonly attributes: Attributes;
  /** Absent when nobody traces it. */
  readonly trace?: Trace | undefined;
}

/**
 * One job for one stream, made when the request's headers arrive. Handlers are called one at a time, in the order
 * of Envoy's messages. What they throw or reject becomes a plain CONTINUE, so that a fault of ours never costs a
 * request; an answer that is ready at once is best given without a promise.
 */
export interface Job {
  /** Headers arrived; `isWhole` when no body follows. */
  onRequestHeaders(isWhole: boolean): Answer | Promise<Answer>;
  /** BUFFERED: the whole body, once. In observability mode: a piece. `isEnd` is false also when trailers follow. */
  onRequestBody(body: Buffer, isEnd: boolean): Answer | Promise<Answer>;
  onResponseHeaders?(status: number, headers: RequestHeaders, isWhole: boolean): Answer | Promise<Answer>;
  onResponseBody?(chunk: Buffer, isEnd: boolean): Answer | Promise<Answer>;
  onResponseTrailers?(): Answer | Promise<Answer>;
  /** The stream is over, whatever ended it; exactly once, perhaps while a handler is still at work. */
  onEnd?(): void;
}

/** What a stream can be opened for, by its name in the gRPC metadata. */
export interface Role {
  begin(exchange: Exchange): Job;
}
