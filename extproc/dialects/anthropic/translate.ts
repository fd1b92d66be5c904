import { parseObject } from "../../body/json.js";
import type { RequestHeaders } from "../../request-headers.js";
import type { AnswerEditor } from "../answer-editor.js";
import type { CallersRequest, Translation } from "../dialect.js";
import { Untranslatable } from "../untranslatable.js";
import { WholeBody } from "../whole-body.js";
import { toCompletion } from "./answer.js";
import { toErrorBody } from "./errors.js";
import type { AnswerForm } from "./form.js";
import { toMessagesBody } from "./request.js";
import { StreamTranslator } from "./stream.js";

const CHAT = /\/chat\/completions$/;
/** The one version there is (anthropic-sdk sends it with every call). */
const HEADERS = { "anthropic-version": "2023-06-01" };
const JSON_TYPE = { "content-type": "application/json" };

/** An answer of 64,000 tokens is some 300 kB. */
const MAX_ANSWER_BYTES = 8_388_608;
const MAX_ERROR_BYTES = 65_536;

/** Chat completions as Anthropic Messages, and the answers back. Other endpoints have no counterpart there. */
export function translateToAnthropic(request: CallersRequest): Translation | undefined {
  if (!CHAT.test(request.path)) return undefined;
  const chat = parseObject(request.body);
  if (chat === undefined) return undefined;
  const body = messagesBodyOf(request.body);
  if (body === undefined) return undefined;
  const form = {
    model: request.answerModel,
    createdAt: Math.floor(Date.now() / 1000),
    includesUsage: asksForUsage(chat.stream_options),
  };
  return {
    body,
    path: request.path.replace(CHAT, "/messages"),
    headers: HEADERS,
    answerEditor: (status, headers) => editorFor(status, headers, form),
  };
}

function messagesBodyOf(body: Buffer): Buffer | undefined {
  try {
    return toMessagesBody(body);
  } catch (cause) {
    if (cause instanceof Untranslatable) return undefined;
    throw cause;
  }
}

function asksForUsage(options: unknown): boolean {
  return (
    typeof options === "object" &&
    options !== null &&
    "include_usage" in options &&
    options.include_usage === true
  );
}

/** Errors are JSON for the caller whatever they were, a proxy's HTML page too. */
function editorFor(status: number, headers: RequestHeaders, form: AnswerForm): AnswerEditor | undefined {
  if (status >= 400) return new WholeBody(MAX_ERROR_BYTES, (body) => toErrorBody(status, body), JSON_TYPE);
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type === "text/event-stream") return new StreamTranslator(form);
  if (type === "application/json") return new WholeBody(MAX_ANSWER_BYTES, (body) => toCompletion(body, form));
  return undefined;
}
