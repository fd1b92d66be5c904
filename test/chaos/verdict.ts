import { type Answer, sseData } from "../support/client.js";
import type { Script } from "./fault.js";
import { healthyMessage, healthyTokens } from "./wire.js";

/** What a caller got. */
export type Got =
  /** A healthy tier's answer to its end. */
  | "whole"
  /** An answer that the scripts allow to be passed on, byte for byte. */
  | "own"
  /** A 200 that visibly broke off. */
  | "broken"
  /** A 200 that says itself that it failed. */
  | "told"
  /** An error status with a JSON body. */
  | "error"
  /** The caller left by itself. */
  | "left"
  // What nobody may get:
  | "nothing"
  | "bare error"
  | "clean half"
  | "endless wait";

export function verdictOf(answer: Answer, streamed: boolean, scripts: readonly (Script | undefined)[]): Got {
  if (answer.brokenBy === "left") return "left";
  if (answer.brokenBy === "timeout") return "endless wait";
  if (answer.status === 0 || (!answer.complete && answer.body.length === 0)) return "nothing";
  if (answer.complete && scripts.some((script) => isOwn(answer, script))) return "own";
  if (answer.status >= 400) return answer.complete && isErrorObject(answer.text) ? "error" : "bare error";
  if (!answer.complete) return "broken";
  if (answer.status !== 200) return "clean half";
  const { text, finish, isError } = streamed ? readStream(answer.text) : readJson(answer.text);
  if (isError || finish === "abort") return "told";
  const expected = streamed ? healthyTokens.join("") : healthyMessage;
  return text === expected && finish === "stop" ? "whole" : "clean half";
}

function isOwn(answer: Answer, script: Script | undefined): boolean {
  const own = script?.own;
  return own !== undefined && own.status === answer.status && own.body.equals(answer.body);
}

interface Reading {
  text: string;
  finish?: string;
  isError: boolean;
}

interface Completion {
  error?: unknown;
  choices?: {
    delta?: { content?: string };
    message?: { content?: string };
    finish_reason?: string | null;
  }[];
}

function readStream(text: string): Reading {
  const reading: Reading = { text: "", isError: false };
  for (const data of sseData(text)) {
    if (data === "[DONE]") continue;
    const event = parsed(data);
    const choice = event?.choices?.[0];
    reading.text += choice?.delta?.content ?? "";
    if (choice?.finish_reason) reading.finish = choice.finish_reason;
    if (event?.error) reading.isError = true;
  }
  return reading;
}

function readJson(text: string): Reading {
  const body = parsed(text);
  const choice = body?.choices?.[0];
  const finish = choice?.finish_reason;
  return {
    text: choice?.message?.content ?? "",
    isError: body?.error !== undefined,
    ...(finish && { finish }),
  };
}

function parsed(text: string): Completion | undefined {
  try {
    return JSON.parse(text) as Completion;
  } catch {
    return undefined;
  }
}

function isErrorObject(text: string): boolean {
  const body = parsed(text);
  return typeof body?.error === "object" && body.error !== null;
}
