import { type Exchange, MAX_MESSAGE_BYTES, type Receive } from "./exchange.js";
import { Freshness } from "./freshness.js";
import type { GroupKey } from "./keys.js";
import { SEAL_BYTES, Seal } from "./seal.js";

/** What became of messages since the start. */
export interface ExchangeCounts {
  readonly sent: number;
  readonly received: number;
  /** Not sealed by a key of ours, or changed on the way. */
  readonly refused: number;
  /** Sealed by a key of ours, but sent twice, recorded, or by somebody who does not hear us yet. */
  readonly stale: number;
  /** Too large to be sent. */
  readonly tooLarge: number;
}

/** Told when a message was of no use. */
export type OnUseless = (what: "refused" | "tooLarge") => void;

/** An exchange whose messages only members can write and read, each taken in once. */
export class SealedExchange implements Exchange {
  private readonly seal: Seal;
  private readonly freshness: Freshness;
  private readonly counted = { sent: 0, received: 0, refused: 0, stale: 0, tooLarge: 0 };

  constructor(
    private readonly inner: Exchange,
    keys: readonly GroupKey[],
    now: () => number,
    /** Somebody has not heard us lately. */
    onUnheard: () => void,
    private readonly onUseless: OnUseless,
  ) {
    this.seal = new Seal(keys);
    this.freshness = new Freshness(now, onUnheard);
  }

  get name(): Exchange["name"] {
    return this.inner.name;
  }

  get reachable(): number | undefined {
    return this.inner.reachable;
  }

  get counts(): ExchangeCounts {
    return { ...this.counted };
  }

  listen(receive: Receive): void {
    this.inner.listen((bytes) => this.open(bytes, receive));
  }

  publish(bytes: Uint8Array): void {
    const wrapped = this.freshness.wrap(bytes);
    if (wrapped.length + SEAL_BYTES > MAX_MESSAGE_BYTES) {
      this.counted.tooLarge++;
      this.onUseless("tooLarge");
      return;
    }
    this.counted.sent++;
    this.inner.publish(this.seal.close(wrapped));
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  /** What was sealed by a member is passed on, even if it is of no use here. */
  private open(sealed: Uint8Array, receive: Receive): boolean {
    const bytes = sealed.length <= MAX_MESSAGE_BYTES ? this.seal.open(sealed) : undefined;
    const opened = bytes && this.freshness.unwrap(bytes);
    if (opened === undefined) {
      this.counted.refused++;
      this.onUseless("refused");
      return false;
    }
    if (opened.kind === "stale") this.counted.stale++;
    if (opened.kind === "message") {
      this.counted.received++;
      receive(opened.bytes);
    }
    return true;
  }
}
