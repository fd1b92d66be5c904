/** The process's clocks, moved by hand. */
export class SimulatedClock {
  /** Monotonic time. */
  nowMs: number;
  /** Wall time may be stepped by itself. */
  wallMs = 1_790_000_000_000;

  constructor(nowMs = 1_000_000) {
    this.nowMs = nowMs;
  }

  advance(elapsedMs: number): void {
    this.nowMs += elapsedMs;
    this.wallMs += elapsedMs;
  }

  get nowNs(): bigint {
    return BigInt(Math.round(this.nowMs * 1000)) * 1000n;
  }

  get wallNs(): bigint {
    return BigInt(Math.round(this.wallMs * 1000)) * 1000n;
  }
}
