import type { Redis, RedisOptions } from "ioredis";
import { loadOptional } from "./optional-package.js";

/** What the optional package ioredis gives. */
export type RedisClass = typeof Redis;

/** Before Redis is tried again, doubled each time it disappoints soon after. Milliseconds. */
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 5000;
/** A connection that held for so long is forgiven its past. Milliseconds. */
const SOUND_AFTER_MS = 10_000;
/** What connecting and the handshake may take. Milliseconds. */
const HANDSHAKE_MS = 2000;

/** @throws ConfigError that names `setting` when the package is not installed. */
export async function loadRedis(setting: readonly string[]): Promise<RedisClass> {
  return (await loadOptional(setting, "ioredis", () => import("ioredis"))).Redis;
}

/** For a client of which nobody waits while Redis is away, and which comes back by itself, for ever. */
export function redisOptions(pauses: Pauses): RedisOptions {
  return {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: HANDSHAKE_MS,
    commandTimeout: HANDSHAKE_MS,
    retryStrategy: () => pauses.next(),
  };
}

/** How long to wait before the next attempt. */
export class Pauses {
  private disappointments = 0;
  private readySinceMs = Number.POSITIVE_INFINITY;

  connected(): void {
    this.readySinceMs = performance.now();
  }

  lost(): void {
    if (performance.now() - this.readySinceMs > SOUND_AFTER_MS) this.disappointments = 0;
    this.readySinceMs = Number.POSITIVE_INFINITY;
  }

  next(): number {
    this.disappointments += 1;
    return Math.min(FIRST_PAUSE_MS * 2 ** (this.disappointments - 1), LAST_PAUSE_MS);
  }
}
