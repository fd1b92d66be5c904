import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Stream, connect } from "node:http2";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startForTest } from "../support/client.js";

const WATCH = "/grpc.health.v1.Health/Watch";
/** A HealthCheckRequest for the whole server, which has no bytes of its own. */
const REQUEST = Buffer.alloc(5);

/** A call of which nothing but its headers has been sent. */
function openWatch(address: string): { stream: ClientHttp2Stream; close: () => void } {
  const session = connect(`http://${address}`);
  const stream = session.request({ ":method": "POST", ":path": WATCH, "content-type": "application/grpc" });
  return { stream, close: () => session.destroy() };
}

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

test("answers a watcher once, however much he asks", async () => {
  const { service, client } = await startForTest();
  const { stream, close } = openWatch(service.grpcAddress);
  let bytes = 0;
  stream.on("data", (data: Buffer) => {
    bytes += data.length;
  });
  stream.write(Buffer.concat(Array(1000).fill(REQUEST)));
  await once(stream, "data");
  assert.equal(await client.check(), "SERVING");
  await delay(50);
  assert.equal(bytes, 7);
  close();
  client.close();
  await service.close();
});

test("lets go of a watcher who asks while it drains", async () => {
  const { service, client } = await startForTest();
  client.close();
  const { stream, close } = openWatch(service.grpcAddress);
  stream.resume();
  await delay(100);
  const startedAt = performance.now();
  const closed = service.close();
  stream.write(REQUEST);
  await once(stream, "end");
  stream.end();
  await closed;
  assert.ok(performance.now() - startedAt < 3000);
  close();
});
