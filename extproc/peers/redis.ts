import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { Pauses, type RedisClass, redisOptions } from "../redis-client.js";
import type { Exchange, Receive } from "./exchange.js";
import type { RedisPeersSettings } from "./settings.js";

/** Messages that were sent come back to their sender too; a subscription that is silent for so long is made anew. */
const SILENT_MS = 5000;

/**
 * Messages by pub-sub, for those who run a Redis or Valkey anyway. While it is away messages are lost and nothing else
 * happens. One message at a time is under way: of those that come meanwhile only the last one is worth sending, since
 * each tells all.
 */
export class RedisExchange implements Exchange {
  readonly name = "redis";
  private receive: Receive = () => true;
  private readonly publisher: Redis;
  private readonly subscriber: Redis;
  private isPublishing = false;
  private waiting: Uint8Array | undefined;
  private subscribers: number | undefined;
  /** When messages began to be sent that none has come back of; undefined: the last one did. */
  private unheardSinceMs: number | undefined;
  private isSubscribed = false;
  /** What was told last; undefined: nothing yet. */
  private isThere: boolean | undefined;
  private lastError = "connection closed";
  private isClosed = false;

  constructor(
    redis: RedisClass,
    private readonly settings: RedisPeersSettings,
    private readonly log: Pick<Logger, "info" | "warn">,
  ) {
    this.publisher = this.connect(redis, () => this.tell());
    this.subscriber = this.connect(redis, (client) => void this.subscribe(client));
    this.subscriber.on("close", () => {
      this.isSubscribed = false;
    });
    this.subscriber.on("messageBuffer", (_channel: Buffer, bytes: Buffer) => this.take(bytes));
  }

  get reachable(): number | undefined {
    return this.subscribers;
  }

  listen(receive: Receive): void {
    this.receive = receive;
  }

  publish(bytes: Uint8Array): void {
    if (this.publisher.status !== "ready") return;
    if (this.isPublishing) {
      this.waiting = bytes;
      return;
    }
    void this.send(bytes);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.publisher.disconnect();
    this.subscriber.disconnect();
  }

  private connect(redis: RedisClass, onReady: (client: Redis) => void): Redis {
    const pauses = new Pauses();
    const client = new redis(this.settings.url, { ...redisOptions(pauses), autoResubscribe: false });
    client.on("ready", () => {
      pauses.connected();
      onReady(client);
    });
    client.on("close", () => {
      pauses.lost();
      this.wentAway();
    });
    client.on("error", (cause: Error) => {
      this.lastError = cause.message;
    });
    return client;
  }

  private async subscribe(client: Redis): Promise<void> {
    try {
      await client.subscribe(this.settings.channel);
      this.isSubscribed = true;
      this.tell();
    } catch (cause) {
      this.lastError = (cause as Error).message;
      this.reconnect(client);
    }
  }

  private async send(bytes: Uint8Array): Promise<void> {
    this.isPublishing = true;
    try {
      // Ends at the latest after the command timeout.
      const receivers = await this.publisher.publish(this.settings.channel, Buffer.from(bytes));
      this.subscribers = Math.max(receivers - 1, 0);
      this.checkSubscription();
    } catch (cause) {
      this.lastError = (cause as Error).message;
      this.waiting = undefined;
      this.reconnect(this.publisher);
    }
    this.isPublishing = false;
    const next = this.waiting;
    this.waiting = undefined;
    if (next !== undefined) this.publish(next);
  }

  private take(bytes: Buffer): void {
    this.unheardSinceMs = undefined;
    this.receive(bytes);
  }

  private checkSubscription(): void {
    const now = performance.now();
    this.unheardSinceMs ??= now;
    if (now - this.unheardSinceMs < SILENT_MS) return;
    this.unheardSinceMs = undefined;
    this.reconnect(this.subscriber);
  }

  /** Drops what the connection still owes. */
  private reconnect(client: Redis): void {
    if (!this.isClosed && client.status === "ready") client.disconnect(true);
  }

  private wentAway(): void {
    this.subscribers = undefined;
    if (this.isThere !== false && !this.isClosed) {
      this.log.warn({ reason: this.lastError }, "peers: Redis is away, gateways go on by themselves");
    }
    this.isThere = false;
  }

  private tell(): void {
    if (this.isThere === true || !this.isSubscribed || this.publisher.status !== "ready") return;
    this.log.info("peers: Redis is there");
    this.isThere = true;
  }
}
