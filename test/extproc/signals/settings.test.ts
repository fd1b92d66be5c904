import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "../../../extproc/service-config.js";

const parse = (backend: object, period = "1s") =>
  parseConfig({ signals: { period, backends: { gpu: backend } } });

test("a page alone is enough", () => {
  assert.deepEqual(parse({ metrics: "http://gpu:8000/metrics" }).signals.backends.gpu, {
    metrics: "http://gpu:8000/metrics",
    resolve: "none",
    longQueue: 8,
  });
});

test("what can't be is refused, by field and rule", () => {
  const metrics = "http://gpu:8000/metrics";
  for (const [backend, message] of [
    [{}, /signals\.backends\.gpu\.metrics or endpoints must be given/],
    [{ metrics, endpoints: [metrics] }, /gpu\.endpoints must not stand beside metrics/],
    [{ endpoints: [] }, /gpu\.endpoints must name at least one page/],
    [{ endpoints: Array(65).fill(metrics) }, /gpu\.endpoints must name at most 64 pages/],
    [{ endpoints: [metrics], resolve: "a" }, /gpu\.resolve must be none beside endpoints/],
    [{ metrics, resolve: "aaaa" }, /gpu\.resolve must be one of none, a, srv, got "aaaa"/],
    [{ metrics: "ftp://gpu/metrics" }, /gpu\.metrics must be a URL/],
    [
      { metrics: "http://u:p@gpu/metrics" },
      /gpu\.metrics must not hold a user or a password; use bearerTokenFile/,
    ],
    [{ metrics, bearerTokenFile: "" }, /gpu\.bearerTokenFile must not be empty/],
  ] as const) {
    assert.throws(() => parse(backend), message);
  }
  for (const period of ["99ms", "1001ms"]) {
    assert.throws(() => parse({ metrics }, period), /signals\.period must be from 100ms to 1s/);
  }
});
