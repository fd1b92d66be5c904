import type {
  Advice,
  Advisor,
  BackendReport,
  Gateway,
  SyncRequest,
  SyncResponse,
} from "../../../extproc/sync/contract.js";
import { Gateways, type GatewayTransition } from "../../../extproc/sync/gateways.js";
import { request } from "./sync-messages.js";

/** Wall time when the monotonic clock shows 0. */
export const EPOCH = 1_700_000_000_000;

/** Gateways on a clock that the test moves, with one advisor that writes down what it is told. */
export class SyncFleet {
  now = 1_000_000;
  readonly lines: string[] = [];
  readonly observed: [Gateway, readonly BackendReport[]][] = [];
  readonly forgotten: Gateway[] = [];
  readonly transitions: GatewayTransition[] = [];
  readonly gateways: Gateways;
  advice: Advice = {};
  isBusy = false;
  advisors: Advisor[];
  private sequence = 0;

  constructor() {
    const note = (_fields: object, line: string) => void this.lines.push(line);
    const fleet = this;
    this.advisors = [
      {
        observe: (gateway, reports) => void this.observed.push([gateway, reports]),
        forget: (gateway) => void this.forgotten.push(gateway),
        advise: () => this.advice,
        get isBusy() {
          return fleet.isBusy;
        },
      },
    ];
    this.gateways = new Gateways({
      advisors: () => this.advisors,
      log: { info: note, warn: note, error: note } as never,
      now: () => this.now,
      wallNow: () => EPOCH + this.now,
    });
    this.gateways.onTransition((happened) => this.transitions.push(happened));
  }

  /** The next request of a gateway, and its answer. */
  sync(backends: readonly BackendReport[], given: Partial<SyncRequest> = {}): SyncResponse {
    return this.gateways.exchange(request(backends, { sequence: ++this.sequence, ...given }));
  }

  pass(ms: number): void {
    this.now += ms;
  }
}
