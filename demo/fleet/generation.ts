import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { monotonicMs, pause } from "../clock.js";
import { between, jittered, type Random } from "../random.js";
import type { Arrival } from "./arrivals.js";
import type { Fault } from "./faults.js";
import type { EngineMetrics } from "./metrics.js";
import type { ChatBody, Pace } from "./settings.js";

/** All that one answer needs. `signal` is aborted when the client left. */
export interface Turn {
  readonly arrival: Arrival;
  readonly body: ChatBody;
  readonly chat: boolean;
  readonly model: string;
  readonly pace: Pace;
  readonly fault: Fault | undefined;
  readonly random: Random;
  readonly metrics: EngineMetrics;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
  /** Files the end of the request; call before the last byte is written. */
  readonly settle: (outcome: "complete" | "error" | "cut" | "clientLeft", status: number) => void;
}

const WORDS =
  "the engine answers with plain words so that a reader can follow what a caller saw while the fleet was ill and got well".split(
    " ",
  );

/** Waits for a step of the generation; true while the client is still there. */
async function step(turn: Turn, meanMs: number): Promise<boolean> {
  const factor = turn.fault?.kind === "slow" ? turn.fault.factor : 1;
  await pause(jittered(turn.random, meanMs, turn.pace.jitter) * factor, turn.signal);
  if (!turn.signal.aborted) return true;
  turn.settle("clientLeft", 499);
  return false;
}

function firstTokenMs(turn: Turn): number {
  return turn.pace.firstTokenMs + turn.pace.prefillMsPerToken * Math.max(0, turn.arrival.promptTokens);
}

/** The answer's tokens, and why it ended: cut by max_tokens, or by itself. */
function plan(turn: Turn): { words: string[]; finishReason: "stop" | "length" } {
  const wanted = between(turn.random, ...turn.pace.answerTokens);
  const limit = turn.arrival.maxTokens === 0 ? wanted : turn.arrival.maxTokens;
  const start = between(turn.random, 0, WORDS.length - 1);
  const words = Array.from({ length: Math.min(wanted, limit) }, (_, index) => {
    return `${index === 0 ? "" : " "}${WORDS[(start + index) % WORDS.length]}`;
  });
  return { words, finishReason: wanted > limit ? "length" : "stop" };
}

function usageOf(turn: Turn, completionTokens: number): object {
  const promptTokens = Math.max(0, turn.arrival.promptTokens);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

function count(turn: Turn, completionTokens: number): void {
  turn.metrics.promptTokens += Math.max(0, turn.arrival.promptTokens);
  turn.metrics.generationTokens += completionTokens;
  turn.metrics.succeeded++;
  turn.metrics.endToEnd.observe((monotonicMs() - turn.arrival.atMs) / 1000);
}

/** Answers in one piece. */
export async function answerWhole(turn: Turn): Promise<void> {
  const { words, finishReason } = plan(turn);
  if (!(await step(turn, firstTokenMs(turn)))) return;
  if (turn.fault?.kind === "errorInStream" && turn.fault.inOnePiece)
    return sendErrorInOnePiece(turn, turn.fault);
  turn.metrics.firstToken.observe((monotonicMs() - turn.arrival.atMs) / 1000);
  if (!(await step(turn, turn.pace.tokenGapMs * words.length))) return;
  const text = words.join("");
  const choice = turn.chat ? { message: { role: "assistant", content: text } } : { text };
  const body = JSON.stringify({
    id: `${turn.chat ? "chatcmpl" : "cmpl"}-${randomUUID()}`,
    object: turn.chat ? "chat.completion" : "text_completion",
    created: Math.floor(Date.now() / 1000),
    model: turn.model,
    choices: [{ index: 0, ...choice, logprobs: null, finish_reason: finishReason }],
    usage: usageOf(turn, words.length),
  });
  count(turn, words.length);
  turn.settle("complete", 200);
  turn.response.writeHead(200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  turn.response.end(body);
}

/** Answers as server-sent events, in vLLM's order: role, contents, finish, usage when asked for, `[DONE]`. */
export async function answerStreamed(turn: Turn): Promise<void> {
  const { response, fault } = turn;
  const { words, finishReason } = plan(turn);
  const head = {
    id: `${turn.chat ? "chatcmpl" : "cmpl"}-${randomUUID()}`,
    object: turn.chat ? "chat.completion.chunk" : "text_completion",
    created: Math.floor(Date.now() / 1000),
    model: turn.model,
  };
  const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
  const chunk = (delta: object, reason: string | null): string => {
    const piece = turn.chat ? { delta } : { text: "content" in delta ? delta.content : "" };
    return event({ ...head, choices: [{ index: 0, ...piece, logprobs: null, finish_reason: reason }] });
  };
  const begin = (): void => {
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
    });
    if (turn.chat) response.write(chunk({ role: "assistant", content: "" }, null));
  };

  if (fault?.kind === "slowFirstToken") {
    begin();
    await pause(fault.firstTokenMs, turn.signal);
  }
  if (!(await step(turn, firstTokenMs(turn)))) return;
  // A real engine sends the role chunk with its first output, so headers come as late as the first token.
  const errorAt = fault?.kind === "errorInStream" ? fault.afterEvents : -1;
  if (!response.headersSent && errorAt !== 0) begin();

  for (const [index, word] of words.entries()) {
    if (index === errorAt) return sendErrorEvent(turn, event);
    if (fault?.kind === "cutStream" && index === fault.afterEvents) return cut(turn, fault.how);
    if (index > 0 && !(await step(turn, turn.pace.tokenGapMs))) return;
    if (index === 0) turn.metrics.firstToken.observe((monotonicMs() - turn.arrival.atMs) / 1000);
    response.write(chunk({ content: word }, null));
  }
  if (fault?.kind === "errorInStream") return sendErrorEvent(turn, event);
  if (fault?.kind === "cutStream") return cut(turn, fault.how);

  const wantsUsage = turn.body.stream_options?.include_usage === true;
  const usage = wantsUsage ? event({ ...head, choices: [], usage: usageOf(turn, words.length) }) : "";
  count(turn, words.length);
  turn.settle("complete", 200);
  response.end(`${chunk({}, finishReason)}${usage}data: [DONE]\n\n`);
}

type ErrorInStream = Extract<Fault, { kind: "errorInStream" }>;

const errorOf = ({ message, type, code }: ErrorInStream): object => ({
  error: { message, type, param: null, code },
});

function sendErrorInOnePiece(turn: Turn, fault: ErrorInStream): void {
  turn.settle("error", 200);
  turn.response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(errorOf(fault)));
}

function sendErrorEvent(turn: Turn, event: (data: object) => string): void {
  if (turn.fault?.kind !== "errorInStream") return;
  turn.settle("error", 200);
  if (!turn.response.headersSent) {
    turn.response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  }
  turn.response.end(`${event(errorOf(turn.fault))}data: [DONE]\n\n`);
}

/** Long enough for the bytes before a reset to be read on loopback: a RST may overtake what is still queued. */
const FLUSH_MS = 10;

async function cut(turn: Turn, how: "rst" | "clean"): Promise<void> {
  if (how === "rst") await pause(FLUSH_MS, turn.signal);
  turn.settle("cut", 200);
  if (how === "clean") turn.response.end();
  else turn.response.socket?.resetAndDestroy();
}
