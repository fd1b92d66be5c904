import { RateLimiterCompatibleAbstract, RateLimiterRes } from "rate-limiter-flexible";
import type { Clock } from "./clock.js";
import type { WindowTable } from "./limit-memory.js";
import { SlidingWindow } from "./sliding-window.js";
import { slotWidth } from "./slots.js";

/** A result of this process's own counts. */
export class LocalResult extends RateLimiterRes {}

interface Options {
  /** Seconds for which the points count; the whole window unless given. */
  readonly customDuration?: number;
}

/**
 * Sliding windows in memory as a limiter of the library's kind, so that it can be the insurance of one that counts in
 * Redis. The library's own memory limiter has fixed windows: twice the limit passes at their border.
 */
export class WindowLimiter extends RateLimiterCompatibleAbstract {
  override readonly keyPrefix = "";
  override blockDuration = 0;
  override execEvenly = false;
  private readonly widthMs: number;

  constructor(
    private readonly limit: number,
    private readonly windowSeconds: number,
    private readonly windows: WindowTable,
    private readonly now: Clock,
  ) {
    super();
    this.widthMs = slotWidth(windowSeconds);
  }

  override consume(key: string, points = 1): Promise<RateLimiterRes> {
    const now = this.now();
    const { isGranted, total, waitMs } = this.windowOf(key, now).ask(
      points,
      this.windowSeconds,
      this.limit,
      now,
    );
    const consumed = isGranted ? total : total + points;
    const result = new LocalResult(Math.max(0, this.limit - consumed), waitMs, consumed);
    return isGranted ? Promise.resolve(result) : Promise.reject(result);
  }

  override penalty(key: string, points = 1, options: Options = {}): Promise<RateLimiterRes> {
    const now = this.now();
    const seconds = options.customDuration ?? this.windowSeconds;
    const total = this.windowOf(key, now).tell(points, seconds, now);
    return Promise.resolve(new LocalResult(Math.max(0, this.limit - total), 0, total));
  }

  override reward(key: string, points = 1, options: Options = {}): Promise<RateLimiterRes> {
    return this.penalty(key, -points, options);
  }

  private windowOf(key: string, now: number): SlidingWindow {
    const known = this.windows.get(key, now);
    if (known) return known;
    const window = new SlidingWindow(this.widthMs);
    this.windows.set(key, window, now);
    return window;
  }
}
