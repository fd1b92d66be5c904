import type { Chat } from "../body/chat.js";
import type { Normalization } from "./upper-bound.js";

/** A file; `version` tells one content from another under the same name. */
export interface SourceFile {
  readonly file: string;
  readonly version: string;
}

/** What a vocabulary's thread is asked. `withMarks` adds what the family puts around a bare text (Llama's BOS). */
export type CountAsk =
  | { readonly kind: "texts"; readonly texts: readonly string[]; readonly withMarks: boolean }
  | { readonly kind: "chat"; readonly chat: Chat; readonly template: SourceFile };

export interface CountReply {
  readonly tokens: number;
  /** False for text that imitates special tokens and for chats that the template does not take as they are. */
  readonly isExact: boolean;
}

export interface AskMessage {
  readonly id: number;
  readonly ask: CountAsk;
  /** By `Date.now()`; nobody waits for the answer then. */
  readonly untilMs: number;
}

/** The first message of a thread tells that its vocabulary is loaded, the others answer; no reply when it failed. */
export type ThreadMessage =
  | { readonly kind: "ready"; readonly normalization: Normalization }
  | { readonly kind: "answer"; readonly id: number; readonly reply?: CountReply };
