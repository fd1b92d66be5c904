import type { BackendReport, Gateway, Summary } from "./contract.js";

/** What is older tells nothing of how a backend is now. */
const KEPT_MS = 120_000;

interface Kept {
  readonly process: string;
  readonly summary: Summary;
  readonly atMs: number;
}

/** How backends stood at each gateway, for the process that comes after its own. At most `most` of them, the latest. */
export class Summaries {
  /** Oldest first. */
  private readonly kept = new Map<string, Kept>();

  constructor(private readonly most: number) {}

  get size(): number {
    return this.kept.size;
  }

  put(gateway: Gateway, report: BackendReport, now: number): void {
    const key = keyOf(gateway, report.name);
    this.kept.delete(key);
    this.kept.set(key, { process: gateway.process, summary: summaryOf(report), atMs: now });
    if (this.kept.size > this.most)
      for (const oldest of this.kept.keys()) return void this.kept.delete(oldest);
  }

  /** How the process before left the backend, the time since then taken off its wait; undefined when there is nothing to restore. */
  find(gateway: Gateway, backend: string, now: number): Summary | undefined {
    const kept = this.kept.get(keyOf(gateway, backend));
    if (kept === undefined || kept.process === gateway.process) return undefined;
    const elapsedMs = now - kept.atMs;
    if (elapsedMs > KEPT_MS || kept.summary.state === "CLOSED") return undefined;
    return { ...kept.summary, waitMs: Math.max(0, kept.summary.waitMs - elapsedMs) };
  }
}

/** Who probed or let canaries through is gone with his permits: the backend is asked anew, at once. */
function summaryOf(report: BackendReport): Summary {
  const { openings, isEvidence, track } = report;
  const waitMs = report.state === "OPEN" ? report.waitRemainingMs : 0;
  return { state: report.state === "CLOSED" ? "CLOSED" : "OPEN", openings, waitMs, isEvidence, track };
}

function keyOf({ node, policy }: Gateway, backend: string): string {
  return JSON.stringify([node, policy, backend]);
}
