import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Service } from "../../../extproc/server.js";
import { parseConfig } from "../../../extproc/service-config.js";
import { type Collector, startCollector } from "../../support/otlp/collector.js";
import { bodyMessage, headersMessage, type ServiceClient, startForTest } from "../support/client.js";

const SPAN = "b7ad6b7169203331";

let collector: Collector;
let service: Service;
let client: ServiceClient;

before(async () => {
  collector = await startCollector();
  ({ service, client } = await startForTest());
});

after(async () => {
  client.close();
  await service.close();
  await collector.stop();
});

const configWith = (traces?: object) => parseConfig({ log: { level: "silent" }, ...(traces && { traces }) });

async function count(traceId: string): Promise<void> {
  const stream = client.open("count", { traceparent: `00-${traceId}-${SPAN}-01` });
  // The caller's own, forwarded by somebody's rule, means nothing.
  const traceparent = `00-${"f".repeat(32)}-${SPAN}-01`;
  await stream.ask(headersMessage({ ":method": "POST", ":path": "/v1/completions", traceparent }));
  await stream.ask(bodyMessage('{"model":"m","prompt":"hi"}'));
}

test("tracing is turned on and off without a restart, and what waits is sent at the end", async () => {
  const [before_, during, later] = ["a", "b", "c"].map((digit) => digit.repeat(32)) as [
    string,
    string,
    string,
  ];
  await count(before_);
  const endpoint = `http://127.0.0.1:${collector.port}`;
  await service.reconfigure(configWith({ endpoint }));
  await count(during);
  await service.reconfigure(configWith());
  await collector.trace(during, (spans) => spans.some(({ name }) => name === "llm_breaker.count"));
  await count(later);
  await service.reconfigure(configWith({ endpoint, serviceName: "other" }));
  await count(later);
  client.close();
  await service.close();
  const seen = new Set(collector.spans.map(({ traceId, service: name }) => `${traceId[0]} ${name}`));
  assert.deepEqual(seen, new Set(["b llm-breaker-extproc", "c other"]));
});
