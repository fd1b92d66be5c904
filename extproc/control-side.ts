import type { Logger } from "pino";
import type { ServiceParts } from "./parts.js";
import type { Advisor } from "./sync/contract.js";
import { Gateways, type GatewayTransition } from "./sync/gateways.js";
import { defineGatewayMetrics } from "./telemetry/gateway-metrics.js";
import { MetricsPage } from "./telemetry/metrics-page.js";

const SWEEP_MS = 500;

/** What gateways tell and are told. One for the whole life of a service, so that a reload forgets nothing. */
export class ControlSide {
  readonly gateways: Gateways;
  readonly metrics = new MetricsPage();
  /** Who has a say whatever is configured, before those of the configuration. */
  private readonly lasting: readonly Advisor[] = [];
  private configured: () => readonly Advisor[] = () => [];
  private readonly timer: NodeJS.Timeout;

  constructor(
    log: Logger,
    readonly parts: ServiceParts,
  ) {
    const { now } = parts;
    this.gateways = new Gateways({
      advisors: () => [...this.lasting, ...this.configured()],
      log,
      ...(now && { now }),
    });
    this.gateways.onTransition((happened) => log.info(describe(happened), "transition"));
    defineGatewayMetrics(this.metrics, this.gateways);
    this.timer = setInterval(() => this.gateways.sweep(), SWEEP_MS).unref();
  }

  /** `advisors` gives those of the configuration in force. */
  use(advisors: () => readonly Advisor[]): void {
    this.configured = advisors;
  }

  close(): void {
    clearInterval(this.timer);
  }
}

function describe({ gateway, backend, transition, atMs }: GatewayTransition): object {
  const { ageMs, ...figures } = transition;
  return { backend, ...gateway, at: new Date(atMs).toISOString(), ...figures };
}
