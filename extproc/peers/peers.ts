import type { Logger } from "pino";
import { loadRedis } from "../redis-client.js";
import type { Exchange } from "./exchange.js";
import { GossipExchange } from "./gossip.js";
import type { GroupKey } from "./keys.js";
import type { Names } from "./membership.js";
import { RedisExchange } from "./redis.js";
import { type ExchangeCounts, SealedExchange } from "./sealed-exchange.js";
import type { PeersSettings } from "./settings.js";

/** Each member tells all it knows so often, and sooner when something has changed. Milliseconds. */
const EVERY_MS = 1000;
const SOON_MS = 10;
const LEAST_PAUSE_MS = 100;
/** The same complaint is written so often at most. Milliseconds. */
const COMPLAIN_EVERY_MS = 60_000;

/** Whose messages are carried. */
export interface PeersGroup {
  /** All that this member has to tell. */
  write(): Uint8Array;
  /** @throws WireError for what can't be read, like a later version's. */
  read(bytes: Uint8Array): unknown;
  /** The listener is called when there is something to be told soon. */
  onChange(listener: () => void): unknown;
}

/** For tests: other name servers, and sealed messages that are lost on their way. */
export interface PeersParts {
  readonly names?: Names;
  decorateExchange?(exchange: Exchange): Exchange;
}

/** The connection to the other members of the group. */
export class Peers {
  private readonly exchange: SealedExchange;
  private readonly every: NodeJS.Timeout;
  private soon: NodeJS.Timeout | undefined;
  private publishedMs = Number.NEGATIVE_INFINITY;
  private readonly complainedMs = new Map<string, number>();
  private isClosed = false;

  constructor(
    inner: Exchange,
    keys: readonly GroupKey[],
    private readonly group: PeersGroup,
    private readonly log: Pick<Logger, "warn">,
  ) {
    const now = () => performance.now();
    this.exchange = new SealedExchange(
      inner,
      keys,
      now,
      () => this.publishSoon(),
      (what) => this.complain(what === "refused" ? REFUSED : TOO_LARGE),
    );
    this.exchange.listen((bytes) => this.take(bytes));
    this.every = setInterval(() => this.publish(), EVERY_MS);
    this.publishSoon();
  }

  get engine(): Exchange["name"] {
    return this.exchange.name;
  }

  /** Others that a message reaches directly; undefined while nobody can know. */
  get reachable(): number | undefined {
    return this.exchange.reachable;
  }

  get counts(): ExchangeCounts {
    return this.exchange.counts;
  }

  /** Several changes in a row are one message; at most ten a second. */
  publishSoon(): void {
    if (this.soon !== undefined || this.isClosed) return;
    const pauseMs = this.publishedMs + LEAST_PAUSE_MS - performance.now();
    this.soon = setTimeout(() => this.publish(), Math.max(pauseMs, SOON_MS));
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    clearInterval(this.every);
    clearTimeout(this.soon);
    await this.exchange.close();
  }

  private publish(): void {
    clearTimeout(this.soon);
    this.soon = undefined;
    this.publishedMs = performance.now();
    try {
      this.exchange.publish(this.group.write());
    } catch (cause) {
      this.complain("peers: can't tell the other members", cause);
    }
  }

  private take(bytes: Uint8Array): boolean {
    try {
      this.group.read(bytes);
    } catch (cause) {
      this.complain("peers: a member's message can't be read", cause);
    }
    return true;
  }

  private complain(problem: string, cause?: unknown): void {
    const now = performance.now();
    if (now - (this.complainedMs.get(problem) ?? Number.NEGATIVE_INFINITY) < COMPLAIN_EVERY_MS) return;
    this.complainedMs.set(problem, now);
    const { refused, tooLarge } = this.counts;
    const reason = cause instanceof Error ? { reason: cause.message } : {};
    this.log.warn({ refused, tooLarge, ...reason }, problem);
  }
}

const REFUSED = "peers: messages are refused that no key of peers.keyFile has sealed";
const TOO_LARGE = "peers: too much to tell for one message, the other members are told nothing";

/**
 * Connects to the group that the settings tell.
 * @throws ConfigError for a key file that is no good or a package that is not installed, ListenError for a port that
 *   can't be had. Members and a Redis that are away are no error.
 */
export async function openPeers(
  settings: PeersSettings,
  keys: readonly GroupKey[],
  group: PeersGroup,
  log: Logger,
  parts: PeersParts = {},
): Promise<Peers> {
  const exchange = await openExchange(settings, keys, log, parts);
  return new Peers(parts.decorateExchange?.(exchange) ?? exchange, keys, group, log);
}

async function openExchange(
  { gossip, redis }: PeersSettings,
  keys: readonly GroupKey[],
  log: Logger,
  { names }: PeersParts,
): Promise<Exchange> {
  if (gossip !== undefined) return GossipExchange.open(gossip, keys, log, names);
  if (redis === undefined) throw new RangeError("neither gossip nor redis");
  return new RedisExchange(await loadRedis(["peers", "redis"]), redis, log);
}
