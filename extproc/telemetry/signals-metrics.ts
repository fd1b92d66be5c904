import type { MetricsPage } from "./metrics-page.js";

/** Since when nothing was heard of engines, asked anew with each page: backend, milliseconds. */
export type SignalAges = () => Iterable<readonly [backend: string, ageMs: number]>;

/** Tells how old what engines' pages told is; nothing of backends that have no signals. */
export function defineSignalsMetrics(page: MetricsPage, ages: SignalAges): void {
  page.gauge({
    name: "llm_breaker_signals_age_seconds",
    help: "Time since a page of any engine of the backend was read, or since they were first asked.",
    labels: ["backend"],
    collect: (put) => {
      for (const [backend, ageMs] of ages()) put({ backend }, ageMs / 1000);
    },
  });
}
