import type { Advice, BackendReport, Chain, Counters, Gateway, SyncRequest } from "./contract.js";

/** A backend that a live gateway does not report any more has left its policy. Large policies are reported in turns. */
const BACKEND_GONE_AFTER_MS = 10_000;

/** What one gateway last told about one backend, and was told. */
export interface BackendView {
  readonly report: BackendReport;
  /** Monotonic milliseconds. */
  readonly reportedAtMs: number;
  readonly advice: Advice;
}

/** What is remembered of a backend however long it is not reported, so that nothing counts twice. */
export interface Taken {
  generation: number;
  /** When the last second that was taken in began. Monotonic milliseconds. */
  secondAtMs: number;
  counters: Counters | undefined;
}

/** One gateway: the last report of each of its backends, and how far it was taken in. */
export class Member {
  heardAtMs = 0;
  policyHash = "";
  isLive = false;
  chains: readonly Chain[] = [];
  private sequence = 0;
  private readonly taken = new Map<string, Taken>();
  private views = new Map<string, BackendView>();

  constructor(
    readonly gateway: Gateway,
    /** Its process has never heard of a service: all that it counted is new. */
    readonly isNewProcess: boolean,
  ) {}

  get backends(): ReadonlyMap<string, BackendView> {
    return this.views;
  }

  /** False for a request that is older than one that was heard. After a silence any is the newest. */
  hear({ sequence, policyHash, backends, chains }: SyncRequest, now: number): boolean {
    if (this.isLive && sequence <= this.sequence) return false;
    this.sequence = sequence;
    this.heardAtMs = now;
    this.isLive = true;
    if (policyHash !== this.policyHash) this.views.clear();
    this.policyHash = policyHash;
    this.chains = chains;
    for (const report of backends) this.put(report, now);
    for (const [name, { reportedAtMs }] of this.views)
      if (now - reportedAtMs >= BACKEND_GONE_AFTER_MS) this.views.delete(name);
    return true;
  }

  /** How far a backend was taken in; undefined when there is no room for it. */
  takenOf(name: string, most: number): Taken | undefined {
    const known = this.taken.get(name);
    if (known !== undefined) return known;
    if (this.taken.size >= most) return undefined;
    const taken = { generation: 0, secondAtMs: Number.NEGATIVE_INFINITY, counters: undefined };
    this.taken.set(name, taken);
    return taken;
  }

  reports(): BackendReport[] {
    return [...this.views.values()].map(({ report }) => report);
  }

  advise(name: string, advice: Advice): void {
    const view = this.views.get(name);
    if (view !== undefined) this.views.set(name, { ...view, advice });
  }

  /** It is silent. */
  leave(): void {
    this.isLive = false;
    this.chains = [];
    this.views.clear();
  }

  private put(report: BackendReport, now: number): void {
    const advice = this.views.get(report.name)?.advice ?? {};
    this.views.set(report.name, { report, reportedAtMs: now, advice });
  }
}
