import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import fc from "fast-check";
import pino from "pino";
import { ConfigError } from "../../../extproc/config/errors.js";
import { createHttpServer } from "../../../extproc/http.js";
import { listenHttp } from "../../../extproc/listen.js";
import { type Service, startService } from "../../../extproc/server.js";
import { parseConfig } from "../../../extproc/service-config.js";
import { syncEndpoint } from "../../../extproc/sync-endpoint.js";
import { headersMessage, type ServiceClient, startForTest } from "../support/client.js";
import { decodeResponse, encodeRequest, report, request } from "../support/sync-messages.js";

const TYPE = "application/x-protobuf";

let service: Service;
let client: ServiceClient;
let sequence = 0;

before(async () => {
  ({ service, client } = await startForTest());
});
after(async () => {
  client.close();
  await service.close();
});

function post(body: Uint8Array, headers: Record<string, string> = {}, at = service): Promise<Response> {
  const init = { method: "POST", body, headers: { "content-type": TYPE, ...headers } };
  return fetch(`http://${at.httpAddress}/v1/sync`, init);
}

function message(name = "gpu"): Buffer {
  return encodeRequest(request([report(name)], { sequence: ++sequence }));
}

async function refusalOf(answer: Promise<Response>): Promise<[number, string]> {
  const response = await answer;
  assert.equal(response.headers.get("content-type"), "text/plain");
  return [response.status, await response.text()];
}

test("answers a sync with its sequence and a directive for each backend", async () => {
  const response = await post(message());
  assert.deepEqual([response.status, response.headers.get("content-type")], [200, TYPE]);
  const answer = decodeResponse(Buffer.from(await response.arrayBuffer()));
  assert.deepEqual([answer.sequence, answer.nextMs], [sequence, 1000]);
  assert.deepEqual(
    answer.directives.map(({ name, acknowledgedGeneration }) => [name, acknowledgedGeneration]),
    [["gpu", 1]],
  );
});

test("says in one line what it does not take", async () => {
  const got = await fetch(`http://${service.httpAddress}/v1/sync`);
  assert.deepEqual([got.status, got.headers.get("allow")], [405, "POST"]);
  assert.deepEqual(await refusalOf(post(message(), { "content-type": "application/json" })), [
    415,
    `content-type must be ${TYPE}\n`,
  ]);
  assert.deepEqual(await refusalOf(post(Buffer.from("nonsense"))), [
    400,
    "no SyncRequest: field 13 has wire type 6\n",
  ]);
  assert.deepEqual(await refusalOf(post(Buffer.alloc(1_048_577))), [
    413,
    "the body may have 1048576 bytes\n",
  ]);
  assert.equal((await post(message(), { "content-type": `${TYPE}; charset=x` })).status, 200);
});

test("bounds a body whose length is not told", async () => {
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sent = httpRequest(`http://${service.httpAddress}/v1/sync`, {
      method: "POST",
      headers: { "content-type": TYPE },
    });
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.write(Buffer.alloc(1_048_577));
  });
  assert.equal(status, 413);
});

test("waits 2 s for a body, and answers others meanwhile", async () => {
  const [host, port] = service.httpAddress.split(":");
  const socket = connect(Number(port), host);
  socket.write(
    `POST /v1/sync HTTP/1.1\r\nhost: a\r\ncontent-type: ${TYPE}\r\ncontent-length: 100\r\n\r\nabc`,
  );
  const startedAt = performance.now();
  const first = new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())));
  assert.equal((await post(message())).status, 200);
  assert.match(await first, /^HTTP\/1\.1 408 /);
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs > 1_900 && tookMs < 3_500, `${tookMs} ms`);
  socket.destroy();
});

test("a body that is cut is nobody's, and any bytes get an answer", async () => {
  const [host, port] = service.httpAddress.split(":");
  const socket = connect(Number(port), host);
  socket.write(
    `POST /v1/sync HTTP/1.1\r\nhost: a\r\ncontent-type: ${TYPE}\r\ncontent-length: 100\r\n\r\nabc`,
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  socket.destroy();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const response = await post(bytes);
      await response.arrayBuffer();
      assert.ok(response.status === 200 || response.status === 400, `${response.status}`);
    }),
    { numRuns: 100 },
  );
});

test("a page for Prometheus tells what gateways told", async () => {
  await post(message("told"));
  const response = await fetch(`http://${service.httpAddress}/metrics`);
  assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  const page = await response.text();
  assert.match(page, /^llm_breaker_backend_state\{backend="told",policy="chat",state="CLOSED"\} 1$/m);
  assert.match(page, /^llm_breaker_gateways\{policy="chat"\} 1$/m);
  assert.match(page, /^llm_breaker_service_process_resident_memory_bytes \d+$/m);
  assert.equal((await fetch(`http://${service.httpAddress}/metrics`, { method: "POST" })).status, 405);
});

test("a reload forgets no gateway", async () => {
  await post(message("kept"));
  await service.reconfigure(
    parseConfig({
      listen: { grpc: "127.0.0.1:0", http: "127.0.0.1:0", admin: "off" },
      log: { level: "silent" },
      drainTimeout: "1s",
    }),
  );
  const page = await (await fetch(`http://${service.httpAddress}/metrics`)).text();
  assert.match(page, /backend="kept"/);
});

test("answers gateways until the drain is over", async () => {
  const { service: other, client: stream } = await startForTest({ drainTimeout: "5s" });
  const held = stream.open("count");
  try {
    await held.ask(headersMessage({ ":method": "POST", ":path": "/v1/chat/completions" }));
    const closed = other.close();
    assert.equal((await fetch(`http://${other.httpAddress}/healthz`)).status, 503);
    assert.equal((await post(message(), {}, other)).status, 200);
    held.call.cancel();
    await closed;
    await assert.rejects(post(message(), {}, other));
  } finally {
    stream.close();
  }
});

test("asks for the token of sync.tokenFile, which a reload exchanges", async () => {
  const folder = mkdtempSync(join(tmpdir(), "llm-breaker-"));
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, "first-token-of-all\n");
  const config = parseConfig({
    listen: { grpc: "127.0.0.1:0", http: "127.0.0.1:0", admin: "off" },
    log: { level: "silent" },
    sync: { tokenFile },
  });
  const guarded = await startService(config);
  const statusWith = async (authorization?: string) => {
    const response = await post(message(), authorization === undefined ? {} : { authorization }, guarded);
    await response.arrayBuffer();
    return response.status;
  };
  try {
    assert.deepEqual(await refusalOf(post(message(), {}, guarded)), [
      401,
      "the token of sync.tokenFile is missing or another one\n",
    ]);
    for (const wrong of [
      "Bearer first-token-of-al",
      "first-token-of-all",
      "Basic first-token-of-all",
      "Bearer ",
    ])
      assert.equal(await statusWith(wrong), 401, wrong);
    assert.equal(await statusWith("Bearer first-token-of-all"), 200);
    assert.equal(await statusWith("bearer first-token-of-all"), 200);
    assert.equal((await fetch(`http://${guarded.httpAddress}/healthz`)).status, 200);
    writeFileSync(tokenFile, "second-token-of-all");
    await guarded.reconfigure(config);
    assert.equal(await statusWith("Bearer first-token-of-all"), 401);
    assert.equal(await statusWith("Bearer second-token-of-all"), 200);
    for (const [text, rule] of [
      ["short", /sync\.tokenFile must name a file with one token of at least 16 characters/],
      ["two words of sixteen", /without white space/],
    ] as const) {
      writeFileSync(tokenFile, text);
      await assert.rejects(
        guarded.reconfigure(config),
        (cause) => cause instanceof ConfigError && rule.test(cause.message) && !cause.message.includes(text),
      );
    }
    rmSync(tokenFile);
    await assert.rejects(guarded.reconfigure(config), /sync\.tokenFile must name a readable file, got /);
    assert.equal(await statusWith("Bearer second-token-of-all"), 200, "the old one goes on");
  } finally {
    await guarded.close();
    rmSync(folder, { recursive: true });
  }
});

test("a gateway without the token is told of in the log, once for all its tries", async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(line) });
  const gateways = { exchange: () => assert.fail("it has no token") };
  const server = createHttpServer(
    syncEndpoint(gateways, () => () => false, log),
    log,
  );
  const url = `http://${await listenHttp(server, "127.0.0.1:0")}/v1/sync`;
  try {
    for (let tries = 0; tries < 3; tries++) {
      const headers = { "content-type": TYPE, authorization: "Bearer secret" };
      assert.equal((await fetch(url, { method: "POST", headers })).status, 401);
    }
  } finally {
    server.close();
  }
  assert.equal(lines.length, 1);
  assert.match(
    lines[0] ?? "",
    /"address":"127\.0\.0\.1".*a gateway is refused: the token of sync\.tokenFile/,
  );
  assert.doesNotMatch(lines[0] ?? "", /secret/);
});
