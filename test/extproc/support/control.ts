import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import type { ControlParts } from "../../../extproc/control/fleet.js";
import { History } from "../../../extproc/control/history.js";
import { keepJournal } from "../../../extproc/control/journal.js";
import { Overrides } from "../../../extproc/control/overrides.js";
import { createControlServer } from "../../../extproc/control/server.js";
import { controlSettings } from "../../../extproc/control/settings.js";
import type { StaticFile } from "../../../extproc/control/static-page.js";
import { Trends } from "../../../extproc/control/trends.js";
import { Group } from "../../../extproc/peers/group.js";
import { blankReport, NO_WINDOW } from "../../../extproc/sync/blank.js";
import type {
  BackendReport,
  Second,
  SyncRequest,
  SyncResponse,
  Transition,
} from "../../../extproc/sync/contract.js";
import { Gateways } from "../../../extproc/sync/gateways.js";

const { consecutiveFailures: _, ...noCalls } = NO_WINDOW;
export const NO_CALLS: Omit<Second, "ageMs"> = noCalls;

/** A CLOSED backend that has seen nothing. */
export function report(name: string, changes: Partial<BackendReport> = {}): BackendReport {
  const figures = { stateAgeMs: 1000, stageCap: 2, probeLeaseMs: 10_000, probeTimeoutMs: 8_000 };
  return { ...blankReport(name), generation: 1, ...figures, ...changes };
}

/** CLOSED → OPEN, just now, unless `changes` says otherwise. */
export function transition(changes: Partial<Transition> = {}): Transition {
  return {
    generation: 2,
    from: "CLOSED",
    to: "OPEN",
    stage: 0,
    cause: "FAILURE_RATE",
    openings: 1,
    ageMs: 0,
    waitMs: 5000,
    calls: 20,
    weightedFailures: 1000,
    consecutiveFailures: 3,
    ...changes,
  };
}

/** The control side with its server, and gateways that a test speaks for. */
export class ControlRig {
  nowMs = 1_000_000;
  wallMs = Date.now();
  readonly logged: Record<string, unknown>[] = [];
  readonly history = new History(() => this.wallMs);
  page: readonly StaticFile[] = [];
  readonly overrides = new Overrides({ now: () => this.nowMs, wallNow: () => this.wallMs });
  readonly gateways: Gateways;
  readonly trends: Trends;
  readonly log = pino({ level: "info" }, { write: (line) => this.logged.push(JSON.parse(line)) });
  private readonly group = new Group({ name: "a", now: () => this.nowMs, isGrouped: false });
  private readonly sequences = new Map<string, number>();
  private readonly ends: (() => void)[] = [];

  constructor() {
    this.gateways = new Gateways({
      advisors: () => [this.overrides, this.group],
      log: this.log,
      now: () => this.nowMs,
      wallNow: () => this.wallMs,
    });
    this.gateways.onTransition((happened) => this.history.addTransition(happened));
    this.trends = new Trends({
      now: () => this.nowMs,
      wallNow: () => this.wallMs,
      gateways: () => this.gateways.list(),
    });
    this.gateways.onCounted((...counted) => this.trends.take(...counted));
    keepJournal(this.overrides, this.history, this.log);
  }

  get parts(): ControlParts & { readonly overrides: Overrides } {
    return {
      fleet: this.gateways,
      history: this.history,
      overrides: this.overrides,
      trends: this.trends,
      group: this.group,
      engine: () => "none",
    };
  }

  pass(ms: number): void {
    this.nowMs += ms;
    this.wallMs += ms;
  }

  /** One request of a gateway. */
  sync(backends: readonly BackendReport[], changes: Partial<SyncRequest> = {}): SyncResponse {
    const { process = "00000000000000a1" } = changes;
    const sequence = (this.sequences.get(process) ?? 0) + 1;
    this.sequences.set(process, sequence);
    const policyHash = "00000000000000ff";
    const head = { process, node: "envoy-1", policy: "demo", policyHash, sequence, asksRestore: false };
    return this.gateways.exchange({ ...head, chains: [], ...changes, backends });
  }

  /** Serves the API; its port. */
  async serve(settings: unknown = {}, address = "127.0.0.1:0"): Promise<number> {
    const parsed = controlSettings.parse(settings) ?? {};
    const { server, close } = createControlServer(
      address,
      parsed,
      { ...this.parts, page: this.page },
      this.log,
    );
    this.ends.push(() => {
      close();
      server.closeAllConnections();
      server.close();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }

  close(): void {
    for (const end of this.ends.splice(0)) end();
  }
}
