import type { RequestHeaders } from "../request-headers.js";
import type { AnswerEditor } from "./answer-editor.js";

/** A request in the backend's dialect, and what turns the answer back. */
export interface Translation {
  readonly body: Uint8Array;
  /** Without a query. */
  readonly path: string;
  /** What the dialect wants beside the body; credentials are Envoy's. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for an answer that is none of the dialect's: it passes unmarked, and the meter asks the next tier. */
  answerEditor(status: number, headers: RequestHeaders): AnswerEditor | undefined;
}

/** The request as its caller sent it, but for what the cluster's other rules changed. */
export interface CallersRequest {
  readonly body: Buffer;
  /** Without a query. */
  readonly path: string;
  /** The name for the answer's model; undefined: the backend's own. */
  readonly answerModel: string | undefined;
}

/** Undefined for a request that the dialect can't say. */
export type Translate = (request: CallersRequest) => Promise<Translation | undefined>;
