import { EventSplitter } from "../body/event-stream.js";
import { type JsonRecord, parseObject } from "../body/json.js";

/** The end mark of OpenAI's streams. */
const DONE = "[DONE]";

export interface Events {
  /** The JSON objects of all `data` fields, in order. */
  readonly objects: JsonRecord[];
  readonly isDone: boolean;
}

/**
 * Reads a whole event stream. Undefined when some data is neither a JSON object nor the end mark: such a stream is not
 * for keeping.
 */
export function readEvents(stream: Buffer): Events | undefined {
  // It is all here and bounded, so that one event may be as large as the whole.
  const splitter = new EventSplitter(stream.length);
  const events = [...splitter.push(stream)];
  const last = splitter.end();
  if (last !== undefined) events.push(last);
  const data = events.map((event) => event.data).filter((text) => text !== DONE);
  const objects = data.map((text) => parseObject(Buffer.from(text)));
  if (!objects.every((object) => object !== undefined)) return undefined;
  return { objects, isDone: data.length < events.length };
}
