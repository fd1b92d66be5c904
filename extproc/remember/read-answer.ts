import { parseObject } from "../body/json.js";
import type { CompleteAnswer } from "../reply/answer.js";
import type { Dialect } from "../reply/ask.js";
import { readEvents } from "./events.js";
import { readCompletion, readCompletionEvents } from "./read-chat.js";
import { readMessage, readMessageEvents } from "./read-messages.js";
import { readResponse, readResponseEvents } from "./read-responses.js";

const READERS = {
  chat: { whole: readCompletion, events: readCompletionEvents },
  completion: { whole: readCompletion, events: readCompletionEvents },
  responses: { whole: readResponse, events: readResponseEvents },
  messages: { whole: readMessage, events: readMessageEvents },
} as const;

/** A backend's answer as it may be given again; undefined unless it is whole and wholly understood. */
export function readAnswer(dialect: Dialect, isStream: boolean, body: Buffer): CompleteAnswer | undefined {
  const reader = READERS[dialect];
  if (isStream) {
    const events = readEvents(body);
    return events && reader.events(events);
  }
  const json = parseObject(body);
  return json && reader.whole(json);
}
