import type { Media } from "../body/chat.js";
import type { OutputAsk } from "../body/output-ask.js";

/** What `count` found out about one request. */
export interface RequestFacts {
  /** Absent when the size is unknown: a shape, coding or content type that is not understood. */
  promptTokens?: number;
  /** False for an upper bound or an approximation. */
  exact: boolean;
  stream: boolean;
  media: Media;
  output: OutputAsk;
  model?: string;
}

/** Nothing could be read: never a canary, passes as it is. */
export const UNKNOWN_FACTS: RequestFacts = {
  exact: false,
  stream: false,
  media: { images: 0, audio: 0 },
  output: { kind: "odd" },
};
