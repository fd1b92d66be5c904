import type { RequestHeaders } from "../../request-headers.js";
import type { AnswerEditor } from "../answer-editor.js";
import type { CallersRequest, Translation } from "../dialect.js";
import { WholeBody } from "../whole-body.js";
import { toCompletion } from "./answer.js";
import { toErrorBody } from "./errors.js";
import type { AnswerForm } from "./form.js";
import { translateRequest } from "./large-request.js";
import { StreamTranslator } from "./stream.js";

const CHAT = /\/chat\/completions$/;
/** The one version there is (anthropic-sdk sends it with every call). */
const HEADERS = { "anthropic-version": "2023-06-01" };
const JSON_TYPE = { "content-type": "application/json" };

/** An answer of 64,000 tokens is some 300 kB. */
const MAX_ANSWER_BYTES = 2_097_152;
const MAX_ERROR_BYTES = 65_536;

/** Chat completions as Anthropic Messages, and the answers back. Other endpoints have no counterpart there. */
export async function translateToAnthropic(request: CallersRequest): Promise<Translation | undefined> {
  if (!CHAT.test(request.path)) return undefined;
  const messages = await translateRequest(request.body);
  if (messages === undefined) return undefined;
  const form = {
    model: request.answerModel,
    createdAt: Math.floor(Date.now() / 1000),
    includesUsage: messages.includesUsage,
  };
  return {
    body: messages.body,
    path: request.path.replace(CHAT, "/messages"),
    headers: HEADERS,
    answerEditor: (status, headers) => editorFor(status, headers, form),
  };
}

/** Errors are JSON for the caller whatever they were, a proxy's HTML page too. */
function editorFor(status: number, headers: RequestHeaders, form: AnswerForm): AnswerEditor | undefined {
  if (status >= 400) return new WholeBody(MAX_ERROR_BYTES, (body) => toErrorBody(status, body), JSON_TYPE);
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type === "text/event-stream") return new StreamTranslator(form);
  if (type === "application/json") return new WholeBody(MAX_ANSWER_BYTES, (body) => toCompletion(body, form));
  return undefined;
}
