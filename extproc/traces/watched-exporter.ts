import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { Logger } from "pino";

type ExportResult = Parameters<Parameters<SpanExporter["export"]>[1]>[0];

const MAX_REASON = 200;

/** Tells in the log when spans can't be sent, and when they can again: once each, whatever the number of tries. */
export class WatchedExporter implements SpanExporter {
  private isFailing = false;

  constructor(
    private readonly inner: SpanExporter,
    private readonly endpoint: string,
    private readonly log: Pick<Logger, "warn" | "info">,
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
    if (isFailing === this.isFailing) return;
    this.isFailing = isFailing;
    const { endpoint } = this;
    if (error === undefined) this.log.info({ endpoint }, "spans are sent again");
    else this.log.warn({ endpoint, reason: reasonOf(error) }, "spans can't be sent and are lost");
  }
}

/** Network errors have their words in the cause, and sometimes only a code. */
function reasonOf(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  return (error.message || String(code ?? "unknown")).slice(0, MAX_REASON);
}
