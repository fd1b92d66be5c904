import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
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
        `listen: {${field}: "127.0.0.1:${port}", ${other}: "127.0.0.1:0", admin: off}\n`,
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

test("takes a changed file and a SIGHUP, and names in one line what it can't take", async () => {
  const service = new ServiceProcess(FREE_PORTS);
  await service.line("started");
  writeFileSync(service.file, `${FREE_PORTS}tokens: {imageTokens: 1}\ndrainTimeout: 1s\n`);
  assert.deepEqual((await service.line("reconfigured")).changed, ["drainTimeout", "tokens"]);
  writeFileSync(service.file, `${FREE_PORTS}tokens: {imageTokens: -1}\nfoo: 1\n`);
  const refused = await service.line("configuration refused, the old one goes on");
  assert.equal(refused.level, "error");
  assert.match(
    refused.reason ?? "",
    /^EXTPROC config: \S+:3:23 tokens\.imageTokens must be at least 0, got -1; \S+:4:1 foo is unknown[^;]*$/,
  );
  let seen = service.lines.length;
  service.child.kill("SIGHUP");
  await service.line("configuration refused, the old one goes on", seen);
  seen = service.lines.length;
  writeFileSync(service.file, FREE_PORTS.replace("0.1:0", "0.1:1"));
  await service.line("listen has changed, which needs a restart", seen);
  service.child.kill("SIGTERM");
  assert.equal(await service.exit(), 0);
});

test("names the line of a tokenizer that is none", async () => {
  const service = new ServiceProcess(
    `${FREE_PORTS}tokenizers:\n  - models: [x]\n    file: ${fileURLToPath(import.meta.url)}\n`,
  );
  assert.equal(await service.exit(), 2);
  assert.match(
    service.stderr,
    /^EXTPROC config: \S+\.yaml:5:11 tokenizers\[0\]\.file must be a Hugging Face/,
  );
});
