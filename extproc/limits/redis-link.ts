import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { Pauses, type RedisClass, redisOptions } from "../redis-client.js";
import type { RedisSettings } from "./settings.js";

interface ScriptClient extends Redis {
  rlflxIncr(args: string[]): Promise<[total: number, ms: number]>;
}

/**
 * The connection to Redis as the library uses one. Nothing waits for a Redis that is away: commands fail at once while
 * `status` is not "ready", and one that fails or is slower than `timeout` gives the connection up, so that only the
 * requests of that moment have waited. Comes back by itself; says so once, and once when it goes.
 */
export class RedisLink {
  private readonly client: ScriptClient;
  private readonly timeoutMs: number;
  private readonly pauses = new Pauses();
  /** Whether it counted last time; undefined before the first. */
  private isThere: boolean | undefined;
  private lastError = "connection closed";
  private isClosed = false;

  constructor(
    redis: RedisClass,
    settings: RedisSettings,
    private readonly log: Logger,
    private readonly onReady: () => void,
  ) {
    this.timeoutMs = settings.timeout;
    this.client = new redis(settings.url, redisOptions(this.pauses)) as ScriptClient;
    this.client.on("ready", () => {
      this.pauses.connected();
      this.onReady();
    });
    this.client.on("close", () => this.wentAway());
    this.client.on("error", (cause: Error) => {
      this.lastError = cause.message;
    });
  }

  /** The library asks for it before each command. */
  get status(): string {
    return this.client.status;
  }

  get isReady(): boolean {
    return this.client.status === "ready";
  }

  /** The library names its script by it. */
  defineCommand(name: string, definition: { numberOfKeys: number; lua: string }): void {
    this.client.defineCommand(name, definition);
  }

  /** The library's one command. Rejects after `timeout`; Redis may still have run it then. */
  rlflxIncr(args: string[]): Promise<[total: number, ms: number]> {
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      const fail = (cause: Error) => {
        if (isAnswered) return;
        isAnswered = true;
        this.lastError = cause.message;
        if (this.isReady) this.client.disconnect(true);
        reject(cause);
      };
      const miss = () => fail(new Error(`no answer within ${this.timeoutMs} ms`));
      // An answer that came while this process was busy is read before it is missed.
      const timer = setTimeout(() => setImmediate(miss), this.timeoutMs);
      this.client
        .rlflxIncr(args)
        .then((reply) => {
          if (!isCount(reply)) return fail(new Error("its answer is none of our script's"));
          if (isAnswered) return;
          isAnswered = true;
          this.cameBack();
          resolve(reply);
        }, fail)
        .finally(() => clearTimeout(timer));
    });
  }

  close(): void {
    this.isClosed = true;
    this.client.disconnect();
  }

  private cameBack(): void {
    if (this.isThere !== true) this.log.info("Redis is there, limits are counted there");
    this.isThere = true;
  }

  private wentAway(): void {
    this.pauses.lost();
    if (this.isThere !== false && !this.isClosed)
      this.log.warn({ reason: this.lastError }, "Redis is away, limits go on in this process's memory");
    this.isThere = false;
  }
}

/** What is no number would be under every limit. */
function isCount(reply: unknown): boolean {
  return Array.isArray(reply) && reply.length === 2 && reply.every(Number.isFinite);
}
