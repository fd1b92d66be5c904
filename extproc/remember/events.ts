import { isRecord, type JsonRecord } from "../body/json.js";

/** The end mark of OpenAI's streams. */
const DONE = "[DONE]";

export interface Events {
  /** The JSON objects of all `data` fields, in order. */
  readonly objects: JsonRecord[];
  readonly isDone: boolean;
}

/**
 * Reads a whole event stream, LF or CRLF, with or without a blank after the colon. Undefined when some data is neither a
 * JSON object nor the end mark: such a stream is not for keeping. Linear.
 */
export function readEvents(text: string): Events | undefined {
  const objects: JsonRecord[] = [];
  let isDone = false;
  let data: string | undefined;
  const lines = text.split(/\r\n|\n|\r/);
  for (const line of [...lines, ""]) {
    if (line.startsWith("data:")) {
      const part = line.slice(line[5] === " " ? 6 : 5);
      data = data === undefined ? part : `${data}\n${part}`;
      continue;
    }
    if (line !== "" || data === undefined) continue;
    if (data === DONE) isDone = true;
    else {
      const value = parse(data);
      if (!isRecord(value)) return undefined;
      objects.push(value);
    }
    data = undefined;
  }
  return { objects, isDone };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
