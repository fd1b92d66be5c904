import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../../../extproc/server.js";
import { parseConfig } from "../../../extproc/service-config.js";
import { waitFor } from "../../support/wait-for.js";
import { transition } from "../support/control.js";
import { encodeRequest, report, request } from "../support/sync-messages.js";
import { Receiver } from "../support/webhooks.js";

test("a gateway's opening reaches the webhook and its figures the metrics, over a reload", async () => {
  const receiver = new Receiver();
  const settings = (webhooks: object[]) =>
    parseConfig({
      listen: { grpc: "127.0.0.1:0", http: "127.0.0.1:0", admin: "off" },
      log: { level: "silent" },
      webhooks,
    });
  const url = await receiver.listen();
  const service = await startService(settings([{ url }]));
  let sequence = 0;
  const tell = (changes: Parameters<typeof report>[1]) =>
    fetch(`http://${service.httpAddress}/v1/sync`, {
      method: "POST",
      headers: { "content-type": "application/x-protobuf" },
      body: encodeRequest(request([report("gpu", changes)], { sequence: ++sequence })),
    });
  try {
    const open = { state: "OPEN", generation: 2, transitions: [transition()] } as const;
    await waitFor(async () => {
      await tell(open);
      return receiver.received.length > 0;
    }, 10_000);
    assert.equal(receiver.received[0]?.body.figures.failureRate, 50);
    await service.reconfigure(settings([{ url, template: "slack" }]));
    await waitFor(async () => {
      await tell({ generation: 3 });
      return receiver.received.length > 1;
    }, 10_000);
    assert.match(receiver.received[1]?.body.text, /^gpu is Closed again/);
    const page = await waitFor(async () => {
      const text = await (await fetch(`http://${service.httpAddress}/metrics`)).text();
      return text.includes('result="delivered"} 2') ? text : undefined;
    }, 5_000);
    const { host } = new URL(url);
    assert.ok(page.includes(`llm_breaker_webhook_deliveries_total{webhook="${host}",result="delivered"} 2`));
    await assert.rejects(
      service.reconfigure(settings([{ url: "nonsense" }])),
      /webhooks\[0\]\.url must be a URL/,
    );
  } finally {
    await service.close();
    receiver.close();
  }
});
