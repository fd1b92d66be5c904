import type { Media } from "./chat.js";
import { readChatCompletion } from "./chat-completion.js";
import { readCompletion } from "./completion.js";
import { readEmbeddings } from "./embeddings.js";
import { readGenerate } from "./generate.js";
import type { JsonRecord } from "./json.js";
import { readCountTokens, readMessages } from "./messages.js";
import type { Reading } from "./prompt.js";
import { readResponses } from "./responses.js";

/** What a dialect makes of a body; undefined for a shape that it does not understand. */
export type ReadPrompt = (body: JsonRecord, media: Media) => Reading | undefined;

/** By the path's end, so that prefixes such as Azure's are no matter. Ollama's /api/generate is another dialect. */
const ENDPOINTS: readonly [path: RegExp, read: ReadPrompt][] = [
  [/\/chat\/completions$/, readChatCompletion],
  [/\/completions$/, readCompletion],
  [/\/embeddings$/, readEmbeddings],
  [/\/responses$/, readResponses],
  [/\/messages$/, readMessages],
  [/\/messages\/count_tokens$/, readCountTokens],
  [/(?<!\/api)\/generate(_stream)?$/, readGenerate],
  [/^\/$/, readGenerate],
];

/** Undefined for an endpoint whose bodies have no size that we know. */
export function endpointOf(path: string): ReadPrompt | undefined {
  return ENDPOINTS.find(([pattern]) => pattern.test(path))?.[1];
}

/** Azure's deployment or Triton's model, for bodies that name none. */
export function modelInPath(path: string): string | undefined {
  return /\/(?:deployments|v2\/models)\/([^/]+)\//.exec(path)?.[1];
}

/** Endpoints that stream without being asked. */
export function alwaysStreams(path: string): boolean {
  return path.endsWith("/generate_stream");
}
