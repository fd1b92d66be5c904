import { StringDecoder } from "node:string_decoder";

/**
 * What a caller got, in the words of the story:
 * `ok` = a complete 2xx; `jsonError` = an error it can read, before any token; `brokenStream` = tokens, then no proper end;
 * `bareFailure` = neither a complete answer, nor a JSON error, nor a first token.
 */
export type Verdict = "ok" | "jsonError" | "brokenStream" | "bareFailure";

/** Reads one answer as it arrives and judges it at its end. Bytes may be cut anywhere. */
export interface AnswerReader {
  /** @returns true when this chunk brought the first token */
  read(chunk: Buffer): boolean;
  /** @param whole false when the connection broke before the answer's end */
  judge(whole: boolean): Verdict;
}

export function answerReader(status: number, contentType: string): AnswerReader {
  const isStream = status >= 200 && status < 300 && contentType.startsWith("text/event-stream");
  return isStream ? new StreamReader() : new WholeReader(status);
}

interface Choice {
  readonly message?: { readonly content?: string | null };
  readonly delta?: { readonly content?: string | null; readonly reasoning_content?: string | null };
  readonly text?: string;
  readonly finish_reason?: string | null;
}

interface AnswerBody {
  readonly error?: unknown;
  readonly choices?: readonly Choice[];
}

function parse(text: string): AnswerBody | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** An OpenAI error has an object or a string (vLLM's 401) under `error`; older vLLM has a flat `{"object":"error"}`. */
function isError(body: AnswerBody): boolean {
  return (body.error !== undefined && body.error !== null) || ("object" in body && body.object === "error");
}

class WholeReader implements AnswerReader {
  readonly #status: number;
  readonly #parts: Buffer[] = [];

  constructor(status: number) {
    this.#status = status;
  }

  read(chunk: Buffer): boolean {
    this.#parts.push(chunk);
    return false;
  }

  judge(whole: boolean): Verdict {
    const body = whole ? parse(Buffer.concat(this.#parts).toString("utf8")) : undefined;
    if (body === undefined) return "bareFailure";
    if (isError(body)) return "jsonError";
    const [choice] = body.choices ?? [];
    const content = choice?.message?.content ?? choice?.text ?? "";
    const complete = this.#status >= 200 && this.#status < 300 && content !== "";
    return complete ? "ok" : "bareFailure";
  }
}

class StreamReader implements AnswerReader {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  #sawToken = false;
  #finished = false;
  #failed = false;
  #done = false;

  read(chunk: Buffer): boolean {
    const before = this.#sawToken;
    const lines = (this.#rest + this.#decoder.write(chunk)).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data:")) this.#event(line.slice(5).trim());
    }
    return !before && this.#sawToken;
  }

  judge(whole: boolean): Verdict {
    const properEnd = whole && this.#finished && this.#done && !this.#failed;
    if (this.#sawToken) return properEnd ? "ok" : "brokenStream";
    return this.#failed ? "jsonError" : "bareFailure";
  }

  #event(data: string): void {
    if (data === "[DONE]") {
      this.#done = true;
      return;
    }
    const body = parse(data);
    if (body === undefined) return;
    if (isError(body)) this.#failed = true;
    for (const choice of body.choices ?? []) {
      if (choice.delta?.content || choice.delta?.reasoning_content || choice.text) this.#sawToken = true;
      if (choice.finish_reason === "abort" || choice.finish_reason === "error") this.#failed = true;
      else if (choice.finish_reason) this.#finished = true;
    }
  }
}
