import type { CallRecord } from "../../demo/load/caller.js";
import { DEMO_MIX } from "../../demo/load/mix.js";
import { type Load, startLoad } from "../../demo/load.js";

const perSecond = 10;
const mix = { ...DEMO_MIX, longShare: 0, shortWords: [4, 20] as const, maxTokens: [16], completionsShare: 0 };
const patienceMs = 20_000;

/** Callers of one gateway, and all that they got. */
export class Traffic {
  private load: Load | undefined;
  private readonly earlier: CallRecord[] = [];

  constructor(
    private readonly port: number,
    private readonly seed: number,
  ) {}

  start(): void {
    this.load ??= startLoad({ port: this.port, perSecond, seed: this.seed, mix, patienceMs });
  }

  get records(): readonly CallRecord[] {
    return [...this.earlier, ...(this.load?.records ?? [])];
  }

  /** Hangs up, as callers of a gateway that is about to die would be; what breaks then is nobody's failure. */
  async abandon(): Promise<void> {
    this.earlier.push(...(this.load?.records ?? []));
    const { load } = this;
    this.load = undefined;
    await load?.abandon();
  }

  /** Sends no more, and waits for those that are on their way. */
  async stop(): Promise<void> {
    await this.load?.stop();
  }
}
