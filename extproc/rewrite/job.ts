import { decodeBody, listCodings } from "../body/coding.js";
import type { AnswerEditor } from "../dialects/answer-editor.js";
import { DIALECTS, type DialectName } from "../dialects/dialects.js";
import type { Answer, ProcessingMode } from "../messages.js";
import { pathOf, type RequestHeaders } from "../request-headers.js";
import type { Job } from "../role.js";
import type { Trace } from "../traces/trace.js";
import { modelOf, rewriteBody } from "./edits.js";
import { fitHeaders, setHeaders } from "./headers.js";
import { ModelEditor } from "./model-editor.js";
import type { RewriteRules } from "./rules.js";

/** The body is what the backend's metadata ask for. Without it the guard sends the attempt to another tier. */
const REWRITTEN = { "x-llm-breaker-rewritten": "1" };
/** The answer's body is in the caller's form from here on. */
const ADAPTED = { "x-llm-breaker-adapted": "1" };

const PASS: Answer = {};
/** Where the answer had been asked for, it passes unseen. */
const DONE: Answer = { more: false };

/** Envoy replaces the whole mode, so the request's part is in it too. */
const WITH_ANSWER: ProcessingMode = {
  request_header_mode: "SEND",
  request_body_mode: "BUFFERED",
  request_trailer_mode: "SKIP",
  response_header_mode: "SEND",
  response_body_mode: "STREAMED",
  response_trailer_mode: "SKIP",
};

/**
 * An answer in one piece that is longer goes on as it is. Envoy dies (SIGSEGV in a watermark's callback) of bytes that come
 * from us after its backend has ended and fill the caller's buffer, the listener's limit: an answer must fit below it.
 */
const MAX_MAPPED_BYTES = 1_048_576;

type EditorFactory = (status: number, headers: RequestHeaders) => AnswerEditor | undefined;

/** One attempt: its body as the backend wants it, and the answer as the caller expects it. */
export class RewriteJob implements Job {
  private makeEditor: EditorFactory | undefined;
  private editor: AnswerEditor | undefined;

  constructor(
    private readonly headers: RequestHeaders,
    private readonly rules: RewriteRules,
    private readonly maxBodyBytes: number,
    private readonly trace: Trace | undefined,
  ) {}

  onRequestHeaders(isWhole: boolean): Answer {
    const { dialect, mapsModelBack } = this.rules;
    // Without a body there is nothing to rewrite, and the guard lets it pass.
    if (isWhole) return PASS;
    return dialect || mapsModelBack ? { modeOverride: WITH_ANSWER, more: true } : PASS;
  }

  async onRequestBody(body: Buffer): Promise<Answer> {
    const answer = await this.rewrite(body);
    const { dialect, maxOutputTokens } = this.rules;
    this.trace?.note({
      "llm_breaker.rewritten": answer !== DONE,
      "llm_breaker.dialect": dialect,
      "llm_breaker.max_output_tokens": maxOutputTokens,
    });
    return answer;
  }

  private async rewrite(body: Buffer): Promise<Answer> {
    const decoded = await decodeBody(body, this.headers.get("content-encoding"), this.maxBodyBytes);
    if (decoded.kind !== "plain") return DONE;
    const plain = decoded.bytes;
    const edited = rewriteBody(plain, this.rules, pathOf(this.headers));
    if (edited === undefined) return DONE;
    const callersModel = this.rules.mapsModelBack ? modelOf(plain) : undefined;
    if (this.rules.dialect) return this.translate(this.rules.dialect, edited, callersModel);
    if (callersModel !== undefined) {
      this.makeEditor = (_status, headers) => modelEditor(callersModel, headers);
    }
    return this.send(edited === plain ? undefined : edited, {});
  }

  onResponseHeaders(status: number, headers: RequestHeaders, isWhole: boolean): Answer {
    const isReadable = !isWhole && listCodings(headers.get("content-encoding")).length === 0;
    this.editor = isReadable ? this.makeEditor?.(status, headers) : undefined;
    if (this.editor === undefined) return DONE;
    return { response: { header_mutation: setHeaders({ ...ADAPTED, ...this.editor.headers }) } };
  }

  onResponseBody(piece: Buffer, isEnd: boolean): Answer {
    const edited = this.editor?.push(piece, isEnd) ?? piece;
    if (edited === piece || edited.length + piece.length === 0) return PASS;
    return { response: { body_mutation: edited.length === 0 ? { clear_body: true } : { body: edited } } };
  }

  private async translate(
    dialect: DialectName,
    body: Buffer,
    answerModel: string | undefined,
  ): Promise<Answer> {
    const translation = await DIALECTS[dialect]({ body, path: pathOf(this.headers), answerModel });
    if (translation === undefined) return DONE;
    this.makeEditor = (status, headers) => translation.answerEditor(status, headers);
    const query = (this.headers.get(":path") ?? "").slice(pathOf(this.headers).length);
    return this.send(translation.body, {
      ...translation.headers,
      ":path": translation.path + query,
    });
  }

  /** `body` stands in the place of the one that came; undefined leaves it, compressed or not. */
  private send(body: Uint8Array | undefined, own: Readonly<Record<string, string>>): Answer {
    const more = this.makeEditor !== undefined;
    const headers = this.rules.isGuarded ? { ...REWRITTEN, ...own } : own;
    if (body === undefined) return { more, response: { header_mutation: setHeaders(headers) } };
    return {
      more,
      response: {
        status: "CONTINUE",
        header_mutation: fitHeaders(this.headers, body.length, headers),
        body_mutation: { body },
      },
    };
  }
}

/** Only JSON and event streams name a model. */
function modelEditor(model: string, headers: RequestHeaders): AnswerEditor | undefined {
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type === "text/event-stream") return new ModelEditor(model, true);
  if (type !== "application/json" || Number(headers.get("content-length")) > MAX_MAPPED_BYTES)
    return undefined;
  return new ModelEditor(model, false);
}
