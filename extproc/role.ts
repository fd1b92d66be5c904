import type { Attributes } from "./attributes.js";
import type { Answer } from "./messages.js";
import type { RequestHeaders } from "./request-headers.js";

/** What a role knows when it is asked: one HTTP request as far as Envoy has shown it. */
export interface Exchange {
  headers: RequestHeaders;
  attributes: Attributes;
}

/**
 * One job that a stream can be opened for. Both methods may reject: the stream then answers a plain CONTINUE,
 * so that a fault of ours never costs a request.
 */
export interface Role {
  /** Headers arrived; `isWhole` when no body follows. */
  onRequestHeaders(exchange: Exchange, isWhole: boolean): Promise<Answer>;
  /** The whole buffered body arrived; nothing else is of interest after it. */
  onRequestBody(exchange: Exchange, body: Buffer): Promise<Answer>;
}
