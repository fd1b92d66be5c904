import { randomUUID } from "node:crypto";
import type { CompleteAnswer } from "./answer.js";
import type { Ask, Dialect } from "./ask.js";
import { writeChat, writeCompletion } from "./write-chat.js";
import { writeMessages } from "./write-messages.js";
import { writeResponses } from "./write-responses.js";

type Writer = (answer: CompleteAnswer, ask: Ask, id: string, createdSeconds: number) => string;

const WRITERS: Record<Dialect, Writer> = {
  chat: writeChat,
  completion: writeCompletion,
  responses: writeResponses,
  messages: writeMessages,
};

export interface WrittenAnswer {
  readonly contentType: string;
  readonly body: Buffer;
}

/** An answer in the caller's dialect, as JSON or as events, under an id of its own. */
export function writeAnswer(answer: CompleteAnswer, ask: Ask): WrittenAnswer {
  const id = randomUUID().replaceAll("-", "");
  const text = WRITERS[ask.dialect](answer, ask, id, Math.floor(Date.now() / 1000));
  return { contentType: ask.stream ? "text/event-stream" : "application/json", body: Buffer.from(text) };
}
