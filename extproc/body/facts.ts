import { alwaysStreams, endpointOf, modelInPath } from "./endpoints.js";
import { type JsonRecord, parseObject } from "./json.js";
import { namesTwoModels } from "./model-keys.js";
import type { BodyFacts } from "./prompt.js";

/** Names go into access logs and metrics of others, and from thread to thread: bounded. Characters. */
const MAX_MODEL_LENGTH = 256;

/**
 * Undefined when the bytes are no JSON object.
 * @param isDecoded the gate could not read them: where they name two models, no model is told
 */
export function readFacts(path: string, bytes: Buffer, isDecoded: boolean): BodyFacts | undefined {
  const body = parseObject(bytes);
  if (body === undefined) return undefined;
  const facts = readBodyFacts(path, body);
  if (isDecoded && namesTwoModels(bytes)) delete facts.model;
  return facts;
}

export function readBodyFacts(path: string, body: JsonRecord): BodyFacts {
  const media = { images: 0, audio: 0 };
  const reading = endpointOf(path)?.(body, media);
  const facts: BodyFacts = {
    stream: body.stream === true || alwaysStreams(path),
    media,
    output: reading?.output ?? { kind: "odd" },
  };
  const model = typeof body.model === "string" ? body.model : modelInPath(path);
  if (model !== undefined) facts.model = model.slice(0, MAX_MODEL_LENGTH);
  if (reading !== undefined) facts.prompt = reading.prompt;
  return facts;
}
