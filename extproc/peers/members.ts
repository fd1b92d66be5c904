import type { BackendView, PeerMessage } from "./message.js";

/** Whoever was heard of within it counts. */
export const LIVE_MS = 3000;
const MAX_MEMBERS = 256;
/** Longer than any lease, so that a vote is never asked of fewer than may have given theirs away. */
const KEPT_MS = 3_900_000;

export interface Member {
  readonly id: string;
  readonly name: string;
  heardAtMs: number;
  /** When it began, by our clock. */
  startedAtMs: number;
  sequence: number;
  /** Another member of its name was heard first after it. */
  isReplaced: boolean;
  readonly backends: Map<string, PeerBackend>;
}

/** What a member told of a backend, and since when it has been asking for the lease as it does now. */
export interface PeerBackend {
  readonly view: BackendView;
  readonly askedAtMs: number;
}

/** The other members, as their messages told. Nothing is ever compared with another's clock. */
export class Members {
  private readonly byId = new Map<string, Member>();

  /** False: an old message, or one member too many. */
  take(message: PeerMessage, now: number): boolean {
    const known = this.byId.get(message.member);
    if (known && message.sequence <= known.sequence) return false;
    const member = known ?? this.welcome(message, now);
    if (member === undefined) return false;
    member.sequence = message.sequence;
    member.heardAtMs = now;
    member.startedAtMs = Math.min(member.startedAtMs, now - message.uptimeMs);
    member.isReplaced = false;
    const before = new Map(member.backends);
    member.backends.clear();
    for (const view of message.backends) {
      const earlier = before.get(view.name);
      const isSameAsk = view.ask !== undefined && earlier?.view.ask?.id === view.ask.id;
      member.backends.set(view.name, { view, askedAtMs: isSameAsk ? earlier.askedAtMs : now });
    }
    return true;
  }

  /** Without those that another of the same name has replaced. */
  live(now: number): Member[] {
    const live: Member[] = [];
    for (const member of this.byId.values())
      if (now - member.heardAtMs <= LIVE_MS && !member.isReplaced) live.push(member);
    return live;
  }

  /** Those that are gone as well, for as long as something that they were granted may hold. */
  all(): Member[] {
    return [...this.byId.values()];
  }

  private welcome(message: PeerMessage, now: number): Member | undefined {
    for (const [id, { heardAtMs }] of this.byId) if (now - heardAtMs > KEPT_MS) this.byId.delete(id);
    if (this.byId.size >= MAX_MEMBERS && !this.dropOldest(now)) return undefined;
    for (const member of this.byId.values()) if (member.name === message.name) member.isReplaced = true;
    const { member: id, name, sequence } = message;
    const backends = new Map<string, PeerBackend>();
    const startedAtMs = now - message.uptimeMs;
    const member: Member = {
      id,
      name,
      heardAtMs: now,
      startedAtMs,
      sequence,
      isReplaced: false,
      backends,
    };
    this.byId.set(id, member);
    return member;
  }

  /** Of those that don't count any more. */
  private dropOldest(now: number): boolean {
    const gone = this.all().filter(({ heardAtMs }) => now - heardAtMs > LIVE_MS);
    const [oldest] = gone.sort((one, other) => one.heardAtMs - other.heardAtMs);
    return oldest !== undefined && this.byId.delete(oldest.id);
  }
}
