import type { CallRecord } from "../../demo/load/caller.js";
import { DEMO_MIX } from "../../demo/load/mix.js";
import { type Load, startLoad } from "../../demo/load.js";

const mix = { ...DEMO_MIX, longShare: 0, completionsShare: 0, maxTokens: [16, 32, 48] };
/** Longer than all time limits of a chain, and a stopped gateway, take together. */
const patienceMs = 30_000;

/** What a caller got, and by which credential access logs know it. */
export interface Call extends CallRecord {
  readonly credential: string;
}

/** Callers of one gateway, and all that they got. */
export class Traffic {
  private load: Load | undefined;
  private starts = 0;
  private readonly earlier: Load[] = [];
  private readonly stopping: Promise<unknown>[] = [];

  constructor(
    private readonly port: number,
    private readonly perSecond: number,
    private readonly seed: number,
  ) {}

  get calls(): readonly Call[] {
    return [...this.earlier, ...(this.load ? [this.load] : [])].flatMap(({ records, credentials }) =>
      records.map((record) => {
        const number = Number(record.id.slice(record.id.lastIndexOf("-") + 1));
        return { ...record, credential: credentials[number] ?? "" };
      }),
    );
  }

  start(): void {
    const { port, perSecond } = this;
    this.load ??= startLoad({ port, perSecond, seed: this.seed + 1_000 * this.starts++, mix, patienceMs });
  }

  /** Sends no more; those on their way are waited for by `end`. */
  pause(): void {
    const { load } = this;
    this.load = undefined;
    if (!load) return;
    this.earlier.push(load);
    this.stopping.push(load.stop());
  }

  async end(): Promise<void> {
    this.pause();
    await Promise.all(this.stopping);
  }
}
