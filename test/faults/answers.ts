import type { Alias } from "../e2e/support/rig.js";
import { doneEvent, finishEvent, roleEvent, tokenEvent } from "../support/completion.js";
import type { Arrival } from "../support/upstream.js";
import type { Mode, Write } from "../support/upstream-mode.js";

export const tokenCount = 60;
const tokenGapMs = 12;
/** A pause is cut into such pieces, so that an upstream whose caller has left stops soon. */
const pieceMs = 250;

/** Prompt tokens as each tier counts them: its usage tells which tier's answer one has. */
export const promptTokens: Readonly<Record<Alias, number>> = { gpu: 101, small: 102, public: 103 };

const tokenTexts = Array.from({ length: tokenCount }, (_, index) => ` token${index}`);

/** What a whole answer says. */
export const wholeText = tokenTexts.join("");

/** What a request asks of a model server. */
export interface Ask {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly lastRole: string;
}

export function askOf(arrival: Arrival): Ask {
  const body = JSON.parse(arrival.body.toString("utf8"));
  return {
    model: String(body.model),
    stream: body.stream === true,
    includeUsage: body.stream_options?.include_usage === true,
    lastRole: String(body.messages?.at(-1)?.role),
  };
}

/** A whole answer of `tier` under the model asked for, with the tier's own usage. */
export function healthy(tier: Alias, ask: Ask): Mode {
  if (ask.stream) return { kind: "chunks", writes: wholeStream(tier, ask) };
  const message = { role: "assistant", content: wholeText };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return jsonAnswer(200, { object: "chat.completion", model: ask.model, choices, usage: usageOf(tier) });
}

export function wholeStream(tier: Alias, ask: Ask): Write[] {
  return [...openEnded(tier, ask), doneEvent];
}

/** All of a stream but its end marker. */
export function openEnded(tier: Alias, ask: Ask): Write[] {
  const usage = ask.includeUsage ? [usageEvent(tier, ask.model)] : [];
  return [roleEvent(ask.model), ...tokens(ask.model, 0, tokenCount), finishEvent(ask.model), ...usage];
}

/** A whole stream in two: before and after its first `at` tokens have come. */
export function halves(tier: Alias, ask: Ask, at: number): [before: Write[], after: Write[]] {
  const stream = wholeStream(tier, ask);
  // The role's event, then a pause and an event for each token.
  const border = 1 + 2 * at;
  return [stream.slice(0, border), stream.slice(border)];
}

/** Tokens `from` to `to` (exclusive), paced. */
export function tokens(model: string, from: number, to: number): Write[] {
  return tokenTexts.slice(from, to).flatMap((text) => [{ waitMs: tokenGapMs }, tokenEvent(model, text)]);
}

/** The event of one token with its JSON cut in half, framed like any other. */
export function malformedEvent(model: string, token: number): string {
  const event = tokenEvent(model, tokenTexts[token] ?? "");
  return `${event.slice(0, event.length / 2)}\n\n`;
}

export function cutAfter(at: number): Mode {
  return { kind: "cut", at, how: "rst", gapMs: tokenGapMs };
}

export function silence(ms: number): Write[] {
  return Array.from({ length: Math.ceil(ms / pieceMs) }, () => ({ waitMs: pieceMs }));
}

export function errorAnswer(
  status: number,
  error: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Mode {
  return jsonAnswer(status, { error }, headers);
}

function jsonAnswer(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Mode {
  const all = { "content-type": "application/json", ...headers };
  return { kind: "status", status, headers: all, body: JSON.stringify(body) };
}

function usageOf(tier: Alias): Record<string, number> {
  const prompt = promptTokens[tier];
  return { prompt_tokens: prompt, completion_tokens: tokenCount, total_tokens: prompt + tokenCount };
}

function usageEvent(tier: Alias, model: string): string {
  const chunk = { object: "chat.completion.chunk", model, choices: [], usage: usageOf(tier) };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
