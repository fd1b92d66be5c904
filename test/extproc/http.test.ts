import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { pino } from "pino";
import { type HealthFacts, healthEndpoint } from "../../extproc/health-endpoint.js";
import { createHttpServer, MAX_CONNECTIONS } from "../../extproc/http.js";

const WELL: HealthFacts = { isServing: () => true, isConfigStale: () => false };

async function withServer(
  facts: Partial<HealthFacts>,
  check: (port: number) => Promise<void>,
): Promise<void> {
  const endpoints = healthEndpoint({ ...WELL, ...facts });
  const server = createHttpServer(endpoints, pino({ level: "silent" })).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await check((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("tells a configuration that is not in use, also while draining, and only on /healthz", async () => {
  await withServer({ isConfigStale: () => true, isServing: () => false }, async (port) => {
    const health = await fetch(`http://127.0.0.1:${port}/healthz?a=b`);
    assert.deepEqual([health.status, await health.text()], [503, "draining\n"]);
    assert.equal(health.headers.get("x-llm-breaker-config"), "stale");
    const other = await fetch(`http://127.0.0.1:${port}/other`);
    assert.deepEqual([other.status, other.headers.get("x-llm-breaker-config")], [404, null]);
    const head = await fetch(`http://127.0.0.1:${port}/healthz`, { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [503, ""]);
  });
});

test("refuses connections above its bound, and headers above theirs", async () => {
  await withServer({}, async (port) => {
    const sockets = Array.from({ length: MAX_CONNECTIONS }, () => connect(port, "127.0.0.1"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    const extra = connect(port, "127.0.0.1");
    await once(extra, "close");
    for (const socket of sockets.slice(0, 4)) socket.destroy();
    const freed = sockets[5];
    freed?.write(`GET /healthz HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`);
    const [answer] = (await once(freed as NonNullable<typeof freed>, "data")) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 431 /);
    for (const socket of sockets) socket.destroy();
  });
});
