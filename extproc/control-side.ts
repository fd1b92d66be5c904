import type { Logger } from "pino";
import type { ControlParts } from "./control/fleet.js";
import { History } from "./control/history.js";
import { keepJournal } from "./control/journal.js";
import { Overrides } from "./control/overrides.js";
import { Trends } from "./control/trends.js";
import type { ServiceParts } from "./parts.js";
import { Group } from "./peers/group.js";
import { memberName, PeersSide } from "./peers/peers-side.js";
import type { PeersSettings } from "./peers/settings.js";
import type { Advisor } from "./sync/contract.js";
import { failureRate } from "./sync/failure-rate.js";
import { Gateways, type GatewayTransition } from "./sync/gateways.js";
import { defineGatewayMetrics } from "./telemetry/gateway-metrics.js";
import { MetricsPage } from "./telemetry/metrics-page.js";
import { definePeersMetrics } from "./telemetry/peers-metrics.js";
import { defineWebhookMetrics } from "./telemetry/webhook-metrics.js";
import { Webhooks } from "./webhook/webhooks.js";

const SWEEP_MS = 500;

/** What gateways tell and are told. One for the whole life of a service, so that a reload forgets nothing. */
export class ControlSide {
  readonly gateways: Gateways;
  readonly metrics = new MetricsPage();
  /** What the services of the group make of backends together. */
  readonly group: Group;
  /** The connection to them. */
  readonly peers: PeersSide;
  readonly history = new History();
  readonly overrides: Overrides;
  readonly trends: Trends;
  readonly webhooks: Webhooks;
  /** Who has a say whatever is configured, before those of the configuration. */
  private readonly lasting: readonly Advisor[];
  private configured: () => readonly Advisor[] = () => [];
  private readonly timer: NodeJS.Timeout;
  private readonly isGrouped: boolean;

  /** `peers`: as the service began; whether there are any does not change until it ends. */
  constructor(
    readonly log: Logger,
    readonly parts: ServiceParts,
    peers?: PeersSettings,
  ) {
    const { now = () => performance.now() } = parts;
    this.group = new Group({ name: memberName(peers), now, isGrouped: peers !== undefined });
    this.isGrouped = peers !== undefined;
    this.peers = new PeersSide(this.group, log, parts);
    this.overrides = new Overrides({ now, wallNow: Date.now });
    this.group.carry(this.overrides);
    this.lasting = [this.overrides, this.group];
    this.gateways = new Gateways({
      advisors: () => [...this.lasting, ...this.configured()],
      log,
      now,
    });
    this.gateways.onTransition((happened) => {
      log.info(describe(happened), "transition");
      this.history.addTransition(happened);
      this.webhooks.note(happened.backend, happened.transition);
    });
    this.webhooks = new Webhooks({
      log,
      now,
      wallNow: Date.now,
      gateways: () => this.gateways.list(),
      group: this.group,
      service: memberName(peers),
    });
    this.trends = new Trends({ now, wallNow: Date.now, gateways: () => this.gateways.list() });
    this.gateways.onCounted((...counted) => this.trends.take(...counted));
    defineGatewayMetrics(this.metrics, this.gateways);
    definePeersMetrics(
      this.metrics,
      () => this.peers.peers,
      () => this.group.view().members.filter(({ isLive }) => isLive).length,
    );
    defineWebhookMetrics(this.metrics, this.webhooks);
    keepJournal(this.overrides, this.history, log);
    this.timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  /** What the control API is made of. */
  get controlParts(): ControlParts & { readonly overrides: Overrides } {
    return {
      fleet: this.gateways,
      history: this.history,
      overrides: this.overrides,
      trends: this.trends,
      group: this.group,
      engine: () => this.peers.peers?.engine ?? "none",
    };
  }

  /** `advisors` gives those of the configuration in force. */
  use(advisors: () => readonly Advisor[]): void {
    this.configured = advisors;
  }

  /**
   * Connects to the group as the settings say.
   * @throws ConfigError or ListenError; what was in use goes on then.
   */
  async connect(peers: PeersSettings | undefined): Promise<void> {
    if ((peers !== undefined) === this.isGrouped) return this.peers.apply(peers);
    this.log.warn("peers was added or taken away, which needs a restart");
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.webhooks.close();
    await this.peers.close();
  }

  private sweep(): void {
    this.gateways.sweep();
    this.overrides.expire();
    this.trends.close();
    this.webhooks.step();
  }
}

function describe({ gateway, backend, transition, atMs }: GatewayTransition): object {
  const { ageMs, calls, weightedFailures, ...figures } = transition;
  const rate = failureRate(weightedFailures, calls);
  const at = new Date(atMs).toISOString();
  return {
    backend,
    ...gateway,
    at,
    ...figures,
    calls,
    weightedFailures: weightedFailures / 100,
    failureRate: rate,
  };
}
