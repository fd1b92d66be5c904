import type { Logger } from "pino";
import type { CallerSettings } from "../callers/settings.js";
import type { RedisClass } from "../redis-client.js";
import { Budget, type BudgetAnswer, type SharedCounts } from "./budget.js";
import { type LimitStand, limitHeaders } from "./limit-headers.js";
import type { LimitMemory } from "./limit-memory.js";
import type { Admission, Limiter, LimitReason, LimitRequest, Refusal } from "./limiter.js";
import { OwedChanges } from "./owed-changes.js";
import { RedisLink } from "./redis-link.js";
import { type Reservation, readReservation, type Taken, writeReservation } from "./reservation.js";
import type { LimitsSettings } from "./settings.js";

const MINUTE_SECONDS = 60;
/** Whose requests name no caller. No hash is like it. */
const ANONYMOUS = "anonymous";
const DEFAULT_CLASS = "default";
/** A place among those under way may come free at any time. */
const CONCURRENCY_RETRY_MS = 1000;

const NOTHING_TAKEN: Admission = { allowed: true, reservation: "", headers: {} };

type Budgets = readonly Budget[];

/** Tokens and requests per minute and requests at once, for each caller and class. */
export class CallerLimiter implements Limiter {
  private readonly classes = new Map<string, Budgets>();
  private readonly link: RedisLink | undefined;

  /** `redis` is there when the settings name one. */
  constructor(
    private readonly settings: LimitsSettings,
    private readonly anonymous: CallerSettings["anonymous"],
    memory: LimitMemory,
    private readonly log: Logger,
    redis: RedisClass | undefined,
  ) {
    const shared = this.connect(memory, redis);
    this.link = shared?.link;
    const classes = { [DEFAULT_CLASS]: {}, ...settings.classes };
    for (const [name, own] of Object.entries(classes)) {
      this.classes.set(name, budgetsOf({ ...settings, ...own }, memory, shared));
    }
  }

  async admit(request: LimitRequest): Promise<Admission> {
    if (request.caller === undefined && this.anonymous === "unlimited") return NOTHING_TAKEN;
    try {
      return await this.ask(request);
    } catch (cause) {
      this.log.error({ err: cause }, "limits can't be asked, request continues");
      return NOTHING_TAKEN;
    }
  }

  settle(text: string, usedTokens: number | undefined): void {
    const reservation = readReservation(text);
    if (reservation === undefined) return;
    const { tokens, concurrency } = reservation;
    this.giveBack(reservation, "concurrency", concurrency?.points ?? 0);
    if (tokens === undefined || usedTokens === undefined) return;
    this.giveBack(reservation, "tokens", tokens.points - usedTokens);
    const budget = this.budget(reservation.className, "tokens");
    budget?.charge(keyOf(reservation), tokens.place, usedTokens - tokens.points);
  }

  cancel(text: string): void {
    const reservation = readReservation(text);
    if (reservation !== undefined) this.giveAllBack(reservation);
  }

  close(): void {
    this.link?.close();
  }

  private connect(memory: LimitMemory, client: RedisClass | undefined): SharedCounts | undefined {
    const { redis } = this.settings;
    if (redis === undefined || client === undefined) return undefined;
    const owed = new OwedChanges();
    const link = new RedisLink(client, redis, this.log, () => owed.pay(memory.now()));
    return { link, keyPrefix: redis.keyPrefix, owed };
  }

  private async ask(request: LimitRequest): Promise<Admission> {
    const className = this.classes.has(request.className) ? request.className : DEFAULT_CLASS;
    const caller = request.caller ?? ANONYMOUS;
    const key = keyOf({ caller, className });
    const given: { [kind in LimitReason]?: Taken } = {};
    const stands: LimitStand[] = [];
    for (const budget of this.classes.get(className) ?? []) {
      const answer = await budget.ask(key, this.pointsOf(budget.kind, request));
      const stand = standOf(budget, answer);
      if (stand !== undefined) stands.push(stand);
      if (!answer.isGranted) {
        this.giveAllBack({ caller, className, ...given });
        return refusal(budget, answer.waitMs, stands);
      }
      given[budget.kind] = answer.taken;
    }
    if (stands.length === 0 && given.concurrency === undefined) return NOTHING_TAKEN;
    const reservation = writeReservation({ caller, className, ...given });
    return { allowed: true, reservation, headers: limitHeaders(stands) };
  }

  private pointsOf(kind: LimitReason, request: LimitRequest): number {
    if (kind !== "tokens") return 1;
    const prompt = request.promptTokens ?? this.settings.defaultPromptTokens;
    return prompt + (request.outputTokens ?? this.settings.defaultOutputTokens * request.answers);
  }

  private giveAllBack(reservation: Reservation): void {
    for (const kind of ["tokens", "requests", "concurrency"] as const) {
      this.giveBack(reservation, kind, reservation[kind]?.points ?? 0);
    }
  }

  private giveBack(reservation: Reservation, kind: LimitReason, points: number): void {
    const taken = reservation[kind];
    if (taken) this.budget(reservation.className, kind)?.giveBack(keyOf(reservation), taken, points);
  }

  private budget(className: string, kind: LimitReason): Budget | undefined {
    return this.classes.get(className)?.find((budget) => budget.kind === kind);
  }
}

/** Tokens first: they refuse most, and what refuses first need give nothing back. */
function budgetsOf(settings: LimitsSettings, memory: LimitMemory, shared: SharedCounts | undefined): Budgets {
  const { tokensPerMinute = 0, requestsPerMinute = 0, concurrent = 0, headroom, leaseTimeout } = settings;
  const leaseSeconds = Math.ceil(leaseTimeout / 1000);
  const limits = [
    { kind: "tokens", limit: Math.ceil(tokensPerMinute * headroom), windowSeconds: MINUTE_SECONDS },
    { kind: "requests", limit: requestsPerMinute, windowSeconds: MINUTE_SECONDS },
    { kind: "concurrency", limit: concurrent, windowSeconds: leaseSeconds },
  ] as const;
  return limits.filter(({ limit }) => limit > 0).map((limit) => new Budget(limit, memory, shared));
}

function keyOf({ caller, className }: { caller: string; className: string }): string {
  return `${className}:${caller}`;
}

function standOf({ kind, limit }: Budget, answer: BudgetAnswer): LimitStand | undefined {
  if (kind === "concurrency") return undefined;
  const resetMs = answer.isGranted ? answer.resetMs : answer.waitMs;
  return { kind, limit, remaining: limit - answer.total, resetMs };
}

function refusal({ kind, limit }: Budget, waitMs: number, stands: readonly LimitStand[]): Refusal {
  const retryMs = kind === "concurrency" ? CONCURRENCY_RETRY_MS : waitMs;
  const retryAfterSeconds = Math.max(1, Math.ceil(retryMs / 1000));
  return { allowed: false, retryAfterSeconds, reason: kind, limit, headers: limitHeaders(stands) };
}
