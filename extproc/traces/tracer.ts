import type { Span as OtelSpan, Tracer as OtelTracer } from "@opentelemetry/api";
import type { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import type { Logger } from "pino";
import { readHeadersFile } from "../config/headers-file.js";
import { loadOptional } from "../optional-package.js";
import type { TracesSettings } from "./settings.js";
import type { Facts, Span, StreamTracer, Trace } from "./trace.js";
import { readTraceParent } from "./trace-parent.js";
import { WatchedExporter } from "./watched-exporter.js";

const PREFIX = "llm_breaker.";
/** Callers choose a model's name. Longer texts are cut. */
const MAX_TEXT = 200;
const MAX_FACTS = 32;
/** Spans that wait to be sent: some MB. What comes while so many wait is lost. */
const MAX_WAITING = 4096;
const BATCH = 512;
const SEND_EVERY_MS = 1000;
const SEND_LIMIT_MS = 5000;
/** The last flush sends all that waits at once. */
const SENDS_AT_ONCE = MAX_WAITING / BATCH;
/** What the end of the service waits for the collector. */
const LAST_SEND_MS = 2000;
const HEADERS_FILE = ["traces", "headersFile"];

/** OpenTelemetry's packages, of which `npm ci --omit=optional` installs none. */
export interface TracePackages {
  readonly api: typeof import("@opentelemetry/api");
  readonly sdk: typeof import("@opentelemetry/sdk-trace-base");
  readonly resources: typeof import("@opentelemetry/resources");
  readonly exporter: typeof import("@opentelemetry/exporter-trace-otlp-http");
}

/** @throws ConfigError that names `traces` when they are not installed. */
export function loadTracePackages(): Promise<TracePackages> {
  return loadOptional(["traces"], "OpenTelemetry (@opentelemetry/*)", async () => ({
    api: await import("@opentelemetry/api"),
    sdk: await import("@opentelemetry/sdk-trace-base"),
    resources: await import("@opentelemetry/resources"),
    exporter: await import("@opentelemetry/exporter-trace-otlp-http"),
  }));
}

/**
 * Spans below those of Envoy, sent to a collector in batches that nobody waits for. Whether a request is traced was
 * decided before: what Envoy does not sample has no span here either.
 */
export class Tracer implements StreamTracer {
  private readonly provider: BasicTracerProvider;
  private readonly tracer: OtelTracer;

  /** @throws ConfigError for a headers file that is none. */
  constructor(
    private readonly packages: TracePackages,
    settings: TracesSettings,
    log: Pick<Logger, "warn" | "info">,
  ) {
    const { sdk, resources, exporter } = packages;
    const address = addressOf(settings.endpoint);
    const sender = new exporter.OTLPTraceExporter({
      url: address.href,
      headers: settings.headersFile === undefined ? {} : readHeadersFile(settings.headersFile, HEADERS_FILE),
      timeoutMillis: SEND_LIMIT_MS,
      concurrencyLimit: SENDS_AT_ONCE,
    });
    const processor = new sdk.BatchSpanProcessor(
      new WatchedExporter(sender, address.origin + address.pathname, log),
      {
        maxQueueSize: MAX_WAITING,
        maxExportBatchSize: BATCH,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: SEND_LIMIT_MS,
      },
    );
    this.provider = new sdk.BasicTracerProvider({
      resource: resources.resourceFromAttributes({ "service.name": settings.serviceName }),
      sampler: new sdk.AlwaysOnSampler(),
      spanProcessors: [processor],
      spanLimits: { attributeValueLengthLimit: MAX_TEXT, attributeCountLimit: MAX_FACTS },
    });
    this.tracer = this.provider.getTracer("llm-breaker");
  }

  begin(role: string, traceParent: string | undefined): Trace | undefined {
    const parent = readTraceParent(traceParent);
    if (parent === undefined || !parent.isSampled) return undefined;
    const { ROOT_CONTEXT, SpanKind, TraceFlags, trace } = this.packages.api;
    const { traceId, spanId } = parent;
    const from = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
    const outer = trace.setSpanContext(ROOT_CONTEXT, from);
    const span = this.tracer.startSpan(PREFIX + role, { kind: SpanKind.SERVER }, outer);
    return new StreamTrace(span, (name) =>
      this.tracer.startSpan(PREFIX + name, {}, trace.setSpan(ROOT_CONTEXT, span)),
    );
  }

  /** Sends what waits, within a limit. Never rejects. */
  async flush(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LAST_SEND_MS);
    });
    await Promise.race([this.provider.forceFlush().catch(() => {}), limit]);
    clearTimeout(timer);
  }

  close(): void {
    void this.provider.shutdown().catch(() => {});
  }
}

function addressOf(endpoint: string): URL {
  const url = new URL(endpoint);
  if (url.pathname === "/") url.pathname = "/v1/traces";
  return url;
}

/** OpenTelemetry's code for a span that failed. */
const ERROR = 2;

class RecordedSpan implements Span {
  constructor(protected readonly span: OtelSpan) {}

  note(facts: Facts): void {
    for (const [name, value] of Object.entries(facts)) {
      if (value !== undefined) this.span.setAttribute(name, value);
    }
  }

  fail(cause: unknown): void {
    this.span.setAttribute("error.type", cause instanceof Error ? cause.name : typeof cause);
    this.span.setStatus({ code: ERROR });
  }

  end(): void {
    this.span.end();
  }
}

class StreamTrace extends RecordedSpan implements Trace {
  constructor(
    span: OtelSpan,
    private readonly startStage: (name: string) => OtelSpan,
  ) {
    super(span);
  }

  stage(name: string): Span {
    return new RecordedSpan(this.startStage(name));
  }
}
