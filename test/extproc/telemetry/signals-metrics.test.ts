import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricsPage } from "../../../extproc/telemetry/metrics-page.js";
import { defineSignalsMetrics } from "../../../extproc/telemetry/signals-metrics.js";

test("tells how old each backend's signals are, in seconds, and nothing where there are none", async () => {
  const page = new MetricsPage();
  let ages: (readonly [string, number])[] = [];
  defineSignalsMetrics(page, () => ages);
  const lines = async () =>
    (await page.text()).split("\n").filter((line) => line.startsWith("llm_breaker_signals"));
  assert.deepEqual(await lines(), []);
  ages = [
    ["gpu", 250],
    ["small", 61_000],
  ];
  assert.deepEqual(await lines(), [
    'llm_breaker_signals_age_seconds{backend="gpu"} 0.25',
    'llm_breaker_signals_age_seconds{backend="small"} 61',
  ]);
});
