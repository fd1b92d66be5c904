import { monotonicMs } from "../../demo/clock.js";
import { isProbe } from "../e2e/support/rig.js";
import { type Arrival, startUpstream, type Upstream } from "../support/upstream.js";
import type { Mode } from "../support/upstream-mode.js";

/** Long enough that canaries beyond the cap would meet. */
const answerMs = 120;

/** One request as the backend saw it. Times are monotonic. */
export interface Seen {
  readonly gateway: number;
  readonly isProbe: boolean;
  readonly atMs: number;
  /** Of one that is still there: now. */
  readonly endMs: number;
}

/** One backend with a port for each gateway, so that it can fail for some of them and work for others. */
export class Gpu {
  /** Takes probes and never answers them. */
  hangsProbes = false;
  private readonly failing = new Set<number>();

  private constructor(private readonly upstreams: readonly Upstream[]) {
    for (const [gateway, upstream] of upstreams.entries()) {
      upstream.mode = (arrival) => this.modeFor(gateway, arrival);
    }
  }

  static async start(gateways: number): Promise<Gpu> {
    return new Gpu(await Promise.all(Array.from({ length: gateways }, () => startUpstream())));
  }

  port(gateway: number): number {
    const upstream = this.upstreams[gateway];
    if (!upstream) throw new Error(`the backend has no port for gateway ${gateway}`);
    return upstream.port;
  }

  failFor(gateways: readonly number[]): void {
    for (const gateway of gateways) this.failing.add(gateway);
  }

  work(): void {
    this.failing.clear();
    this.hangsProbes = false;
  }

  /** What came since, in order. */
  seenSince(sinceMs: number): Seen[] {
    const now = monotonicMs();
    const offsetMs = now - performance.now();
    const seen = this.upstreams.flatMap(({ arrivals }, gateway) =>
      arrivals.map((arrival) => ({
        gateway,
        isProbe: isProbe(arrival.body),
        atMs: arrival.atMs + offsetMs,
        endMs: arrival.endedAtMs === undefined ? now : arrival.endedAtMs + offsetMs,
      })),
    );
    return seen.filter(({ atMs }) => atMs >= sinceMs).sort((a, b) => a.atMs - b.atMs);
  }

  /** Forgets what has ended. */
  forget(): void {
    for (const { arrivals } of this.upstreams) {
      const open = arrivals.filter(({ ended }) => ended === undefined);
      arrivals.splice(0, arrivals.length, ...open);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.upstreams.map((upstream) => upstream.stop()));
  }

  private modeFor(gateway: number, { body }: Arrival): Mode {
    if (this.hangsProbes && isProbe(body)) return { kind: "hang" };
    if (this.failing.has(gateway)) return { kind: "status", status: 500 };
    return { kind: "ok", delayMs: answerMs };
  }
}

/** The most of them that were there at once. */
export function mostAtOnce(seen: readonly Pick<Seen, "atMs" | "endMs">[]): number {
  const steps = seen.flatMap(({ atMs, endMs }) => [
    { atMs, step: 1 },
    { atMs: endMs, step: -1 },
  ]);
  // One that ends as another begins makes room first.
  steps.sort((a, b) => a.atMs - b.atMs || a.step - b.step);
  let now = 0;
  let most = 0;
  for (const { step } of steps) {
    now += step;
    most = Math.max(most, now);
  }
  return most;
}
