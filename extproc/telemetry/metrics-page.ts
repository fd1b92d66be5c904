import { Counter, collectDefaultMetrics, Gauge, Registry, type Summary } from "prom-client";

/** Seldom enough to cost nothing. */
const EVENT_LOOP_PRECISION_MS = 100;

/** One line of a metric. */
export type Put = (labels: Readonly<Record<string, string>>, value: number) => void;

export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Puts all lines of the metric; called with each page. What is unknown has no line: it is never 0. */
  readonly collect: (put: Put) => void;
}

/** A Prometheus page of this service alone, with Node's own figures. Nothing is kept between two pages. */
export class MetricsPage {
  private readonly registry = new Registry();

  constructor() {
    collectDefaultMetrics({
      register: this.registry,
      prefix: "llm_breaker_service_",
      eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS,
    });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** A total that only grows while this service runs. */
  counter({ name, help, labels, collect }: MetricDefinition): void {
    new Counter({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      collect() {
        this.reset();
        collect((values, value) => this.inc(values, value));
      },
    });
  }

  /** What is now. Of two lines with the same labels the last one counts. */
  gauge({ name, help, labels, collect }: MetricDefinition): void {
    new Gauge({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      collect() {
        this.reset();
        collect((values, value) => this.set(values, value));
      },
    });
  }

  /** Quantiles that somebody else has found; `put` wants each line's `quantile`. */
  summary({ name, help, collect }: Omit<MetricDefinition, "labels">): void {
    const get = async () => {
      const values: { labels: Readonly<Record<string, string>>; value: number }[] = [];
      collect((labels, value) => values.push({ labels, value }));
      return { name, help, type: "summary", values, aggregator: "omit" };
    };
    // The library's own summary takes samples, and finds quantiles by itself.
    this.registry.registerMetric({ name, get } as unknown as Summary);
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }
}
