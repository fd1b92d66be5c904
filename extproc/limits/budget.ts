import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import type { LimitMemory } from "./limit-memory.js";
import type { LimitReason } from "./limiter.js";
import type { OwedChanges } from "./owed-changes.js";
import type { RedisLink } from "./redis-link.js";
import { SLIDING_WINDOW_SCRIPT } from "./redis-script.js";
import type { Place, Taken } from "./reservation.js";
import { secondsInto, slotWidth } from "./slots.js";
import { LocalResult, WindowLimiter } from "./window-limiter.js";

/** Counts that several gateways share. */
export interface SharedCounts {
  readonly link: RedisLink;
  readonly keyPrefix: string;
  readonly owed: OwedChanges;
}

export interface BudgetSettings {
  readonly kind: LimitReason;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** What asking gave; `total` is what counts now. */
export type BudgetAnswer =
  | { readonly isGranted: true; readonly total: number; readonly resetMs: number; readonly taken: Taken }
  | { readonly isGranted: false; readonly total: number; readonly waitMs: number };

/** One limit of one class: a sliding window for each caller, in Redis with memory as insurance, or in memory. */
export class Budget {
  readonly kind: LimitReason;
  readonly limit: number;
  private readonly windowSeconds: number;
  private readonly widthMs: number;
  private readonly local: WindowLimiter;
  private readonly insured: RateLimiterRedis | WindowLimiter;
  private readonly distant: RateLimiterRedis | undefined;

  constructor(
    settings: BudgetSettings,
    private readonly memory: LimitMemory,
    private readonly shared: SharedCounts | undefined,
  ) {
    const { kind, limit, windowSeconds } = settings;
    this.kind = kind;
    this.limit = limit;
    this.windowSeconds = windowSeconds;
    this.widthMs = slotWidth(windowSeconds);
    this.local = new WindowLimiter(limit, windowSeconds, memory.windows(kind, windowSeconds), memory.now);
    this.insured = this.local;
    if (shared === undefined) return;
    const options = {
      storeClient: shared.link,
      keyPrefix: `${shared.keyPrefix}:${kind}`,
      points: limit,
      duration: windowSeconds,
      rejectIfRedisNotReady: true,
      customIncrTtlLuaScript: SLIDING_WINDOW_SCRIPT,
    };
    this.insured = new RateLimiterRedis({ ...options, insuranceLimiter: this.local });
    this.distant = new RateLimiterRedis(options);
  }

  /** Takes `points` if they fit. One that is larger than the whole limit takes all of it. */
  async ask(key: string, points: number): Promise<BudgetAnswer> {
    const wanted = Math.min(Math.max(points, 1), this.limit);
    const wasReady = this.shared?.link.isReady === true;
    try {
      const result = await this.insured.consume(key, wanted);
      const taken = {
        points: wanted,
        leavesAtMs: Math.round(this.memory.now() + result.msBeforeNext),
        place: placeOf(result, wasReady),
      };
      return { isGranted: true, total: result.consumedPoints, resetMs: result.msBeforeNext, taken };
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return { isGranted: false, total: refusal.consumedPoints - wanted, waitMs: refusal.msBeforeNext };
    }
  }

  /** Takes points back that `ask` gave, as far as they still count. */
  giveBack(key: string, { leavesAtMs, place }: Taken, points: number): void {
    if (points > 0) this.tell(key, place, -points, leavesAtMs);
  }

  /** Adds what was used beyond what `ask` gave; it counts from now on. */
  charge(key: string, place: Place, points: number): void {
    if (points > 0) this.tell(key, place, points, this.memory.now() + this.windowSeconds * 1000);
  }

  private tell(key: string, place: Place, points: number, leavesAtMs: number): void {
    if (place !== "redis") this.tellLocal(key, points, leavesAtMs);
    if (place !== "memory") this.tellDistant(key, points, leavesAtMs);
  }

  private tellLocal(key: string, points: number, leavesAtMs: number): void {
    const seconds = this.secondsInto(leavesAtMs);
    if (seconds > 0) void this.local.penalty(key, points, { customDuration: seconds });
  }

  private tellDistant(key: string, points: number, leavesAtMs: number): void {
    const { distant, shared } = this;
    if (distant === undefined || shared === undefined) return;
    const seconds = this.secondsInto(leavesAtMs);
    if (seconds <= 0) return;
    distant.penalty(key, points, { customDuration: seconds }).catch(() => {
      shared.owed.add(leavesAtMs, () => this.tellDistant(key, points, leavesAtMs));
    });
  }

  private secondsInto(leavesAtMs: number): number {
    return secondsInto(leavesAtMs, this.memory.now(), this.widthMs);
  }
}

function placeOf(result: RateLimiterRes, wasReady: boolean): Place {
  if (!(result instanceof LocalResult)) return "redis";
  return wasReady ? "both" : "memory";
}
