import { Redis } from "ioredis";
import { pino } from "pino";
import { CallerLimiter } from "../../../extproc/limits/caller-limiter.js";
import { type Clock, steadyClock } from "../../../extproc/limits/clock.js";
import { LimitMemory } from "../../../extproc/limits/limit-memory.js";
import type { Admission, LimitRequest, Refusal } from "../../../extproc/limits/limiter.js";
import { parseConfig } from "../../../extproc/service-config.js";

export interface LogEntry {
  readonly level: number;
  readonly msg: string;
}

/** A limiter of its own counts, as one gateway has it, with what it logs. */
export function limiterOf(
  limits: Record<string, unknown>,
  given: { now?: Clock; anonymous?: "shared" | "unlimited"; memory?: LimitMemory } = {},
): { limiter: CallerLimiter; lines: LogEntry[] } {
  const lines: LogEntry[] = [];
  const log = pino({}, { write: (text: string) => lines.push(JSON.parse(text) as LogEntry) });
  const config = parseConfig({ limits: { headroom: 1, ...limits } });
  const memory = given.memory ?? new LimitMemory(given.now ?? steadyClock);
  if (config.limits === undefined) throw new Error("limits are set here");
  const anonymous = given.anonymous ?? "shared";
  return { limiter: new CallerLimiter(config.limits, anonymous, memory, log, Redis), lines };
}

/** A request of `tokens`, half of them asked for. */
export function request(tokens: number, given: Partial<LimitRequest> = {}): LimitRequest {
  const promptTokens = Math.floor(tokens / 2);
  const sizes = { promptTokens, outputTokens: tokens - promptTokens, answers: 1 };
  return { caller: "ada", className: "", ...sizes, ...given };
}

export async function admitted(
  limiter: CallerLimiter,
  asked: LimitRequest,
): Promise<{ reservation: string; headers: Readonly<Record<string, string>> }> {
  const admission = await limiter.admit(asked);
  if (!admission.allowed) throw new Error(`refused by ${admission.reason}`);
  return admission;
}

export async function refused(limiter: CallerLimiter, asked: LimitRequest): Promise<Refusal> {
  const admission = await limiter.admit(asked);
  if (admission.allowed) throw new Error("admitted");
  return admission;
}

export function tokensOf(admissions: readonly Admission[], tokensEach: number): number {
  return admissions.filter(({ allowed }) => allowed).length * tokensEach;
}
