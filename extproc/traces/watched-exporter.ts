import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { Logger } from "pino";

type ExportResult = Parameters<Parameters<SpanExporter["export"]>[1]>[0];

const MAX_REASON = 200;
/** A collector that takes every other batch is told of so often. */
const TELL_AGAIN_MS = 60_000;

/** Tells in the log when spans can't be sent, and when they can again, at most once a minute. */
export class WatchedExporter implements SpanExporter {
  /** Whether the log's last word is that they can't be sent. */
  private isToldFailing = false;
  private toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly inner: SpanExporter,
    private readonly endpoint: string,
    private readonly log: Pick<Logger, "warn" | "info">,
    private readonly now: () => number = () => performance.now(),
  ) {}

  export(spans: ReadableSpan[], onDone: (result: ExportResult) => void): void {
    this.inner.export(spans, (result) => {
      this.hear(result);
      onDone(result);
    });
  }

  shutdown(): Promise<void> {
    return this.inner.shutdown();
  }

  forceFlush(): Promise<void> {
    return this.inner.forceFlush?.() ?? Promise.resolve();
  }

  private hear({ error }: ExportResult): void {
    const isFailing = error !== undefined;
    if (isFailing === this.isToldFailing) return;
    if (isFailing && this.now() - this.toldAtMs < TELL_AGAIN_MS) return;
    this.isToldFailing = isFailing;
    const { endpoint } = this;
    if (!isFailing) {
      this.log.info({ endpoint }, "spans are sent again");
      return;
    }
    this.toldAtMs = this.now();
    this.log.warn({ endpoint, reason: reasonOf(error) }, "spans can't be sent and are lost");
  }
}

/** Network errors have their words in the cause, and sometimes only a code. */
function reasonOf(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  return (error.message || String(code ?? "unknown")).slice(0, MAX_REASON);
}
