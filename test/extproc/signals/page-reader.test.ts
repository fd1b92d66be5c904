import assert from "node:assert/strict";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { endpointAt } from "../../../extproc/signals/endpoint.js";
import { PageReader } from "../../../extproc/signals/page-reader.js";

const closers: (() => void)[] = [];
after(() => {
  for (const close of closers) close();
});

const KNOWN = "vllm:num_requests_waiting 3\n";
const LIMIT_MS = 300;

async function readerOf(server: Server | ReturnType<typeof createTcpServer>): Promise<PageReader> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const reader = new PageReader(endpointAt(new URL(`http://engine.test:${port}/metrics?a=b`), "127.0.0.1"));
  closers.push(() => {
    reader.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  return reader;
}

const answering = (listener: RequestListener) => readerOf(createServer(listener));

async function failure(reader: PageReader, pattern: RegExp): Promise<void> {
  const startedAt = performance.now();
  await assert.rejects(reader.read(LIMIT_MS), (cause: Error) => {
    assert.match(cause.message, pattern);
    return true;
  });
  assert.ok(performance.now() - startedAt < LIMIT_MS + 2_000);
}

test("asks for the page as text, uncompressed, under its own name, over one connection", async () => {
  const sockets = new Set<unknown>();
  const asked: unknown[] = [];
  const reader = await answering(({ url, headers, socket }, response) => {
    sockets.add(socket);
    asked.push([url, headers.host?.replace(/:\d+$/, ""), headers["accept-encoding"], headers.authorization]);
    response.end(KNOWN);
  });
  assert.equal((await reader.read(5_000)).waiting, 3);
  assert.equal((await reader.read(5_000, "secret")).waiting, 3);
  assert.deepEqual(asked, [
    ["/metrics?a=b", "engine.test", "identity", undefined],
    ["/metrics?a=b", "engine.test", "identity", "Bearer secret"],
  ]);
  assert.equal(sockets.size, 1);
});

test("a page of 2 MiB is read, a larger one is not", async () => {
  const page = (bytes: number) => `${KNOWN}${"x".repeat(bytes - KNOWN.length)}`;
  const reader = await answering((_request, response) => response.end(page(2_097_152)));
  assert.equal((await reader.read(5_000)).waiting, 3);
  const larger = await answering((_request, response) => response.end(page(2_097_153)));
  await assert.rejects(larger.read(5_000), /larger than 2097152 bytes/);
});

test("another status, a redirect, and a coding that was not asked for are no page", async () => {
  let wasFollowed = false;
  const moved = await answering(({ url }, response) => {
    if (url === "/elsewhere") wasFollowed = true;
    response.writeHead(302, { location: "/elsewhere" }).end(KNOWN);
  });
  await failure(moved, /answered status 302/);
  assert.equal(wasFollowed, false);
  await failure(
    await answering((_request, response) => response.writeHead(404).end(KNOWN)),
    /answered status 404/,
  );
  const zipped = await answering((_request, response) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(KNOWN)),
  );
  await failure(zipped, /is encoded as gzip/);
});

test("a page that hangs, drips or stops has a hard time limit", async () => {
  const inTime = /did not come whole in time/;
  await failure(await answering(() => {}), inTime);
  await failure(await answering((_request, response) => void response.write(KNOWN)), inTime);
  const dripping = await answering((_request, response) => {
    const timer = setInterval(() => response.write(KNOWN), 20);
    response.on("close", () => clearInterval(timer));
  });
  await failure(dripping, inTime);
  await failure(await readerOf(createTcpServer(() => {})), inTime);
  const headers = createTcpServer((socket) => {
    socket.on("error", () => {});
    const timer = setInterval(() => socket.write("HTTP/1.1 200 OK\r\nx: y"), 20);
    socket.on("close", () => clearInterval(timer));
  });
  await assert.rejects((await readerOf(headers)).read(LIMIT_MS));
});

test("a page that is cut tells nothing", async () => {
  const cut = await answering((_request, response) => {
    response.writeHead(200, { "content-length": 1_000 }).write(KNOWN, () => response.destroy());
  });
  await assert.rejects(cut.read(5_000));
  const chunked = await answering((_request, response) => {
    response.write(KNOWN, () => response.destroy());
  });
  await assert.rejects(chunked.read(5_000));
});

test("bytes that are no HTTP, headers without an end and a refused connection are errors", async () => {
  const noise = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.end("\x00\xff hello\r\n\r\n");
  });
  await assert.rejects((await readerOf(noise)).read(5_000));
  const long = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}`);
  });
  await assert.rejects((await readerOf(long)).read(5_000));
  const gone = createServer();
  const reader = await readerOf(gone);
  await new Promise<void>((resolve) => gone.close(() => resolve()));
  await assert.rejects(reader.read(5_000), /ECONNREFUSED/);
});

test("an engine that closes the connection behind each page is asked over a new one", async () => {
  const server = createServer((_request, response) => {
    response.end(KNOWN);
    // Kept by us, and cut by the engine when it is used again.
    response.on("finish", () => setTimeout(() => response.socket?.resetAndDestroy(), 5));
  });
  const reader = await readerOf(server);
  for (let time = 0; time < 20; time++) {
    assert.equal((await reader.read(5_000)).waiting, 3);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});
