import { type Answer, chat, sseData } from "../support/client.js";
import { tokenCount, wholeText } from "./answers.js";

const patienceMs = 60_000;

/** What a caller got, and whether that is an answer. */
export interface Received {
  readonly streamed: boolean;
  readonly status: number;
  readonly text: string;
  readonly finishReason: string | undefined;
  /** Every model named in the answer. */
  readonly models: readonly string[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number } | undefined;
  /** Events that are no JSON. */
  readonly malformed: number;
  readonly doneSeen: boolean;
  /** Why the answer did not end as HTTP says; undefined when it did. */
  readonly brokenBy: string | undefined;
  readonly answeredBy: string | undefined;
  readonly seconds: number;
  readonly body: string;
}

export async function call(url: string, stream: boolean): Promise<Received> {
  const messages = [{ role: "user", content: "Count to sixty." }];
  const extra = { messages, ...(stream && { stream_options: { include_usage: true } }) };
  return read(await chat(url, { stream, maxTokens: 200, extra, timeoutMs: patienceMs }), stream);
}

interface Chunk {
  readonly model?: string;
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string };
    readonly message?: { readonly content?: string };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: Received["usage"];
}

function read(answer: Answer, streamed: boolean): Received {
  const data = streamed && answer.status === 200 ? sseData(answer.text) : [answer.text];
  const payloads = data.filter((each) => each !== "[DONE]");
  const chunks = payloads.map(parsed).filter((chunk) => chunk !== undefined);
  const choices = chunks.flatMap((chunk) => chunk.choices ?? []);
  const backend = answer.headers["x-llm-breaker-backend"];
  return {
    streamed,
    status: answer.status,
    text: choices.map(({ delta, message }) => (delta ?? message)?.content ?? "").join(""),
    finishReason: choices.map((choice) => choice.finish_reason).find((reason) => typeof reason === "string"),
    models: [...new Set(chunks.flatMap((chunk) => chunk.model ?? []))],
    usage: chunks.findLast((chunk) => chunk.usage)?.usage,
    malformed: payloads.length - chunks.length,
    doneSeen: data.includes("[DONE]"),
    brokenBy: answer.brokenBy,
    answeredBy: typeof backend === "string" ? backend : undefined,
    seconds: answer.totalMs / 1000,
    body: answer.text,
  };
}

function parsed(text: string): Chunk | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Chunk) : undefined;
  } catch {
    return undefined;
  }
}

export function tokensIn(text: string): number {
  return text.match(/ token\d+/g)?.length ?? 0;
}

/** What an answer lacks to be complete; nothing when it is. */
export function lackOf(received: Received): string[] {
  const lack: string[] = [];
  if (received.status !== 200) lack.push(`status ${received.status}: ${received.body.slice(0, 200)}`);
  if (received.text !== wholeText) lack.push(`${tokensIn(received.text)} of ${tokenCount} tokens`);
  if (!received.finishReason) lack.push("no finish reason");
  if (!received.usage) lack.push("no usage");
  if (received.brokenBy) lack.push(`broken: ${received.brokenBy}`);
  return lack;
}

/** What is wrong with a stream that is to be seen as broken: one that ends well, one that never ends, other tokens. */
export function notBroken(received: Received): string[] {
  const wrong: string[] = [];
  if (received.status !== 200) wrong.push(`status ${received.status}`);
  if (!received.brokenBy) wrong.push("it ended cleanly");
  if (received.brokenBy === "timeout") wrong.push(`no end within ${patienceMs / 1000} s`);
  if (received.finishReason || received.doneSeen) wrong.push("it has the end of a whole one");
  if (received.text === "" || !wholeText.startsWith(received.text))
    wrong.push("its tokens are no first part");
  return wrong;
}

/** In a few words, for the table. */
export function summary(received: Received): string {
  if (lackOf(received).length === 0) return "complete";
  const part = `${tokensIn(received.text)} of ${tokenCount} tokens`;
  if (received.brokenBy) return `broken after ${part}`;
  return received.status === 200 ? `clean end after ${part}` : `status ${received.status}`;
}
