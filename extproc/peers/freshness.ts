import { randomBytes } from "node:crypto";

/** So long a message may have been under way, with what it answers to. Milliseconds. */
const FRESH_MS = 10_000;
/** As many as a group may have. */
const MAX_HEARD = 256;

const ID_BYTES = 8;
const STAMP_BYTES = 6;
const COUNT_BYTES = 2;
const HEAD_BYTES = ID_BYTES + STAMP_BYTES + COUNT_BYTES;
const ECHO_BYTES = ID_BYTES + STAMP_BYTES;

interface Heard {
  stamp: number;
  atMs: number;
  /** It has answered us; what is only replayed never does. */
  isConfirmed: boolean;
}

/** `stale`: sent twice, or by somebody who does not hear us. */
export type Opened =
  | { readonly kind: "message"; readonly bytes: Buffer }
  | { readonly kind: "own" | "stale" };

/**
 * Tells messages that are new from recorded ones without anybody's clock. Each message carries its sender's incarnation
 * (random, one for each start), a stamp (milliseconds since that start, never twice the same), and the latest stamp
 * heard of every other. A message counts when its stamp is above the last one of that incarnation and it carries a
 * stamp that this process gave out at most 10 s ago. So what was recorded before a restart, the sender's or the
 * receiver's, is never heard again; and who can't hear us doesn't count for us. A newcomer takes one message each way.
 *
 * Layout: incarnation 8, stamp 6, count 2, then incarnation 8 and stamp 6 of each one heard, then what is told.
 */
export class Freshness {
  private readonly own = randomBytes(ID_BYTES);
  private readonly ownText = this.own.toString("latin1");
  private readonly heard = new Map<string, Heard>();
  private lastStamp = 0;

  /**
   * `now`: monotonic milliseconds. `onUnheard` is called when somebody has not heard us lately, so that it need not
   * wait for a second until it does.
   */
  constructor(
    private readonly now: () => number,
    private readonly onUnheard: () => void = () => {},
  ) {}

  wrap(bytes: Uint8Array): Buffer {
    this.forget();
    const heard = [...this.heard];
    const head = Buffer.allocUnsafe(HEAD_BYTES + heard.length * ECHO_BYTES);
    this.lastStamp = Math.max(this.lastStamp + 1, Math.floor(this.now()));
    this.own.copy(head);
    head.writeUIntBE(this.lastStamp, ID_BYTES, STAMP_BYTES);
    head.writeUInt16BE(heard.length, ID_BYTES + STAMP_BYTES);
    heard.forEach(([id, { stamp }], index) => {
      const at = HEAD_BYTES + index * ECHO_BYTES;
      head.write(id, at, "latin1");
      head.writeUIntBE(stamp, at + ID_BYTES, STAMP_BYTES);
    });
    return Buffer.concat([head, bytes]);
  }

  /** Undefined: nothing that `wrap` has written. */
  unwrap(bytes: Buffer): Opened | undefined {
    if (bytes.length < HEAD_BYTES) return undefined;
    const id = bytes.toString("latin1", 0, ID_BYTES);
    const stamp = bytes.readUIntBE(ID_BYTES, STAMP_BYTES);
    const count = bytes.readUInt16BE(ID_BYTES + STAMP_BYTES);
    const bodyAt = HEAD_BYTES + count * ECHO_BYTES;
    if (count > MAX_HEARD || bodyAt > bytes.length) return undefined;
    if (id === this.ownText) return { kind: "own" };
    const known = this.heard.get(id);
    if (known !== undefined && stamp <= known.stamp) return { kind: "stale" };
    const isFresh = this.isRecent(this.echoIn(bytes, bodyAt));
    this.note(id, stamp, isFresh || known?.isConfirmed === true);
    if (isFresh) return { kind: "message", bytes: bytes.subarray(bodyAt) };
    this.onUnheard();
    return { kind: "stale" };
  }

  /** How many others were heard within 10 s. */
  get size(): number {
    this.forget();
    return this.heard.size;
  }

  /** The stamp of ours that a message carries. */
  private echoIn(bytes: Buffer, end: number): number | undefined {
    for (let at = HEAD_BYTES; at < end; at += ECHO_BYTES) {
      if (bytes.compare(this.own, 0, ID_BYTES, at, at + ID_BYTES) === 0) {
        return bytes.readUIntBE(at + ID_BYTES, STAMP_BYTES);
      }
    }
    return undefined;
  }

  private isRecent(stamp: number | undefined): boolean {
    return stamp !== undefined && stamp <= this.lastStamp && this.now() - stamp <= FRESH_MS;
  }

  private note(id: string, stamp: number, isConfirmed: boolean): void {
    // Behind all others: the first one is the one that was not heard for longest.
    this.heard.delete(id);
    if (this.heard.size >= MAX_HEARD && !this.makeRoom()) return;
    this.heard.set(id, { stamp, atMs: this.now(), isConfirmed });
  }

  /** Recorded messages of many dead members must not crowd out those who are there. */
  private makeRoom(): boolean {
    for (const [id, { isConfirmed }] of this.heard) {
      if (!isConfirmed) return this.heard.delete(id);
    }
    this.forget();
    return this.heard.size < MAX_HEARD;
  }

  private forget(): void {
    const now = this.now();
    for (const [id, { atMs }] of this.heard) {
      if (now - atMs <= FRESH_MS) return;
      this.heard.delete(id);
    }
  }
}
