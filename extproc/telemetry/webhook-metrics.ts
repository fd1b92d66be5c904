import type { MetricsPage } from "./metrics-page.js";

/** How webhooks' messages went, asked anew with each page. */
export interface WebhookFigures {
  deliveries(): Iterable<{ readonly webhook: string; readonly result: string; readonly count: number }>;
}

export function defineWebhookMetrics(page: MetricsPage, figures: WebhookFigures): void {
  page.counter({
    name: "llm_breaker_webhook_deliveries_total",
    help: "Messages of webhooks: delivered, refused by the receiver, expired after 15 minutes, dropped from a full queue; failed counts tries.",
    labels: ["webhook", "result"],
    collect: (put) => {
      for (const { webhook, result, count } of figures.deliveries()) put({ webhook, result }, count);
    },
  });
}
