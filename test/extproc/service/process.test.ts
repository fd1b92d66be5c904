import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { bodyMessage, headersMessage, ServiceClient } from "../support/client.js";
import { FREE_PORTS, ServiceProcess } from "../support/process.js";

const BODY = '{"messages":[{"role":"user","content":"secret-prompt"}]}';

test("drains on SIGTERM: says so, finishes open streams, refuses new ones, exits 0", async () => {
  const service = new ServiceProcess(FREE_PORTS);
  const { grpcAddress = "", httpAddress = "" } = await service.line("started");
  const client = new ServiceClient(grpcAddress);
  const stream = client.open("count");
  const headers = { ":path": "/v1/chat/completions", authorization: "Bearer secret-key" };
  await stream.ask(headersMessage(headers));
  service.child.kill("SIGTERM");
  await service.line("draining");
  assert.equal((await fetch(`http://${httpAddress}/healthz`)).status, 503);
  const late = new ServiceClient(grpcAddress);
  await assert.rejects(late.check(), /UNAVAILABLE/);
  late.close();
  assert.ok((await stream.ask(bodyMessage(BODY))).request_body);
  assert.ok(await stream.hasEnded());
  assert.equal(await service.exit(), 0);
  await service.line("drained");
  assert.ok(!service.lines.join().includes("secret"), "neither bodies nor credentials are logged");
  client.close();
});

test("cuts streams that outlive the drain's limit, and still exits 0", async () => {
  const service = new ServiceProcess(`${FREE_PORTS}drainTimeout: 50ms\n`);
  const { grpcAddress = "" } = await service.line("started");
  const client = new ServiceClient(grpcAddress);
  const stream = client.open("count");
  await stream.ask(headersMessage({ ":path": "/v1/chat/completions" }));
  service.child.kill("SIGTERM");
  await assert.rejects(stream.hasEnded());
  assert.equal(await service.exit(), 0);
  client.close();
});

test("exits 2 with one line that names every bad field and its place", async () => {
  const service = new ServiceProcess("listen: {grpc: abc}\nlog: {level: loud}\n");
  assert.equal(await service.exit(), 2);
  assert.match(
    service.stderr,
    /^EXTPROC config: \S+\.yaml:1:16 listen\.grpc must be host:port, got "abc"; \S+\.yaml:2:14 log\.level must be one of .*, got "loud"\n$/,
  );
  assert.deepEqual(service.lines, []);
});

test("exits 2 when the file is no YAML", async () => {
  const service = new ServiceProcess("listen: {grpc: [\n");
  assert.equal(await service.exit(), 2);
  assert.match(service.stderr, /^EXTPROC config: \S+\.yaml:2:1 must be valid YAML: [^\n]*\n$/);
});

test("exits 1 with one line that names the setting when a port is taken", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const address = taken.address();
  const port = typeof address === "object" && address ? address.port : 0;
  try {
    for (const field of ["grpc", "http"] as const) {
      const other = field === "grpc" ? "http" : "grpc";
      const service = new ServiceProcess(
        `listen: {${field}: "127.0.0.1:${port}", ${other}: "127.0.0.1:0"}\n`,
      );
      assert.equal(await service.exit(), 1);
      assert.match(
        service.stderr,
        new RegExp(
          `^EXTPROC start: listen\\.${field} 127\\.0\\.0\\.1:${port} can't be listened on: [^\n]*\n$`,
        ),
      );
    }
  } finally {
    taken.close();
  }
});
