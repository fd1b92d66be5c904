import { isRecord, type JsonRecord } from "../body/json.js";

/** The dialects in which a caller may ask, and is answered. */
export type Dialect = "chat" | "completion" | "responses" | "messages";

/** In which form a caller wants the answer. */
export interface Ask {
  readonly dialect: Dialect;
  readonly model: string;
  readonly stream: boolean;
  /** The caller asked for a last event with the usage. */
  readonly includeUsage: boolean;
}

const DIALECTS: readonly (readonly [ending: string, dialect: Dialect])[] = [
  ["/chat/completions", "chat"],
  ["/completions", "completion"],
  ["/responses", "responses"],
  ["/messages", "messages"],
];

export function dialectOf(path: string): Dialect | undefined {
  return DIALECTS.find(([ending]) => path.endsWith(ending))?.[1];
}

/** Undefined for an endpoint whose answers we can't write. */
export function readAsk(path: string, body: JsonRecord): Ask | undefined {
  const dialect = dialectOf(path);
  if (dialect === undefined) return undefined;
  const options = body.stream_options;
  return {
    dialect,
    model: typeof body.model === "string" ? body.model : "",
    stream: body.stream === true,
    includeUsage: isRecord(options) && options.include_usage === true,
  };
}
