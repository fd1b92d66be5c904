import type { ServerHttp2Session } from "node:http2";

const PING_PERIOD_MS = 30_000;

/**
 * The connections of one server. Each is pinged every 30 s, and given up when the last ping has had no answer: a peer
 * that vanished without a word would otherwise hold its streams until the kernel gives up, which takes hours.
 */
export class Sessions {
  private readonly open = new Set<ServerHttp2Session>();
  private readonly unanswered = new WeakSet<ServerHttp2Session>();
  private readonly timer: NodeJS.Timeout;

  constructor(periodMs = PING_PERIOD_MS) {
    this.timer = setInterval(() => this.pingAll(), periodMs);
    this.timer.unref();
  }

  add(session: ServerHttp2Session): void {
    this.open.add(session);
    // What breaks a connection ends its streams, and those tell their handlers.
    session.on("error", () => {});
    session.on("close", () => this.open.delete(session));
  }

  /** Takes no new streams and closes each connection when its last stream has ended. */
  drain(): void {
    clearInterval(this.timer);
    for (const session of this.open) session.close();
  }

  destroy(): void {
    clearInterval(this.timer);
    for (const session of this.open) session.destroy();
  }

  private pingAll(): void {
    for (const session of this.open) {
      if (this.unanswered.has(session)) {
        session.destroy();
      } else {
        this.unanswered.add(session);
        session.ping((cause) => cause || this.unanswered.delete(session));
      }
    }
  }
}
