import type { BackendReport } from "../sync/contract.js";
import { type Candidate, leaseMs, orderOf } from "./lease.js";
import { isMoving, LocalGateway } from "./local-gateway.js";
import type { GatewayView } from "./message.js";
import { MAX_TRACK } from "./version.js";

/** A gateway that is not heard of for longer could not begin a probe in time. */
const RECENT_MS = 1500;

/** The Envoy processes that sync here, as to one backend. */
export class LocalGateways {
  private readonly byProcess = new Map<string, LocalGateway>();

  get size(): number {
    return this.byProcess.size;
  }

  get processes(): string[] {
    return [...this.byProcess.keys()];
  }

  get(process: string): LocalGateway | undefined {
    return this.byProcess.get(process);
  }

  take(process: string, report: BackendReport, now: number): void {
    const known = this.byProcess.get(process);
    if (known) known.take(report, now);
    else this.byProcess.set(process, new LocalGateway(process, report, now));
  }

  /** Drops gateways that have been silent for so long that they go by nobody's word. */
  prune(now: number): void {
    for (const [process, gateway] of this.byProcess) if (!gateway.isHeld(now)) this.byProcess.delete(process);
  }

  /** Those that count. */
  weight(now: number): number {
    return this.all().filter((gateway) => gateway.isLive(now)).length;
  }

  /** Without those that go by an operator's word. */
  views(now: number): GatewayView[] {
    return this.all()
      .filter((gateway) => gateway.isHeld(now) && isMoving(gateway.report.mode))
      .map((gateway) => gateway.view(now));
  }

  isProbing(now: number): boolean {
    return this.all().some((gateway) => gateway.isHeld(now) && gateway.isProbing(now));
  }

  /** The one that could probe now, by its own wait too. */
  candidate(version: number, now: number): Candidate | undefined {
    const able = this.all().filter((gateway) => {
      const { state, stage, track } = gateway.report;
      if (!gateway.isLive(now) || now - gateway.seenAtMs > RECENT_MS || track < version) return false;
      if (state === "HALF_OPEN") return stage === 0;
      return state === "OPEN" && gateway.waitMs(now) === 0;
    });
    const [first] = able.sort((one, other) => {
      return orderOf(one.process, version) - orderOf(other.process, version);
    });
    if (first === undefined) return undefined;
    const { probeTimeoutMs } = first.report;
    return { process: first.process, leaseMs: leaseOf(first), probeTimeoutMs };
  }

  /** A lease's length by the policies here. */
  leaseMs(): number {
    return Math.max(0, ...this.all().map(leaseOf));
  }

  /** The newest word that a gateway knows of; a service that was restarted may not know it. */
  highestTrack(): number {
    const tracks = this.all().map(({ report }) => report.track);
    return Math.max(0, ...tracks.filter((track) => track < MAX_TRACK));
  }

  private all(): LocalGateway[] {
    return [...this.byProcess.values()];
  }
}

function leaseOf({ report }: LocalGateway): number {
  return leaseMs(report.probeLeaseMs, report.probeTimeoutMs);
}
