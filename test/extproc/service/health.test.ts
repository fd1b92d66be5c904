import assert from "node:assert/strict";
import { test } from "node:test";
import { startForTest } from "../support/client.js";

test("tells its health over gRPC and HTTP, and nothing else over HTTP", async () => {
  const { service, client } = await startForTest();
  try {
    assert.equal(await client.check(), "SERVING");
    assert.equal(await client.check("envoy.service.ext_proc.v3.ExternalProcessor"), "SERVING");
    await assert.rejects(client.check("nobody"), /NOT_FOUND/);
    const health = await fetch(`http://${service.httpAddress}/healthz`);
    assert.deepEqual([health.status, await health.text()], [200, "ok\n"]);
    assert.equal((await fetch(`http://${service.httpAddress}/`)).status, 404);
    assert.equal((await fetch(`http://${service.httpAddress}/healthz`, { method: "POST" })).status, 404);
  } finally {
    client.close();
    await service.close();
    await service.close();
  }
});

test("tells watchers of the drain and lets go of them", async () => {
  const { service, client } = await startForTest();
  const watcher = client.watch();
  assert.equal((await watcher.next()).value.status, "SERVING");
  const closed = service.close();
  assert.equal((await watcher.next()).value.status, "NOT_SERVING");
  assert.ok((await watcher.next()).done);
  await closed;
  client.close();
});
