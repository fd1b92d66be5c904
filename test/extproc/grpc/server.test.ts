import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { after, afterEach, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { CallHandler, GrpcCall } from "../../../extproc/grpc/call.js";
import { frame, HEAD_BYTES } from "../../../extproc/grpc/framing.js";
import { GrpcTransport, type Method } from "../../../extproc/grpc/server.js";
import { Status } from "../../../extproc/grpc/status.js";
import { waitFor } from "../../support/wait-for.js";

const MAX_BYTES = 1_048_576;
const HEADERS = { ":method": "POST", "content-type": "application/grpc", te: "trailers" };

function message(length: number): Buffer {
  return frame(Buffer.alloc(HEAD_BYTES + length, "x"));
}

/** What a method did not care to do. */
function quiet(handler: Partial<CallHandler>): CallHandler {
  return { onMessage: () => {}, onHalfClose: () => {}, onClose: () => {}, ...handler };
}

let last: { call: GrpcCall; received: number; closes: number; drains: number };
const methods = new Map<string, Method>([
  [
    "/test/Echo",
    (call) =>
      call.handle(
        quiet({
          onMessage: (bytes) => call.write(frame(Buffer.concat([Buffer.alloc(HEAD_BYTES), bytes]))),
          onHalfClose: () => call.finish(),
        }),
      ),
  ],
  [
    "/test/Hold",
    (call) => {
      const state = { call, received: 0, closes: 0, drains: 0 };
      last = state;
      call.handle(
        quiet({
          onMessage: () => {
            state.received++;
          },
          onDrain: () => {
            state.drains++;
          },
          onClose: () => {
            state.closes++;
          },
        }),
      );
    },
  ],
  [
    "/test/Throw",
    (call) =>
      call.handle(
        quiet({
          onMessage: () => {
            throw new Error("broken");
          },
        }),
      ),
  ],
]);

let transport: GrpcTransport;
let client: ClientHttp2Session;
let port = 0;
before(async () => {
  transport = new GrpcTransport(methods, MAX_BYTES);
  port = await transport.listen("127.0.0.1", 0);
});
after(() => transport.close());

function dial(settings = {}): ClientHttp2Session {
  client = connect(`http://127.0.0.1:${port}`, { settings });
  client.on("error", () => {});
  return client;
}
afterEach(() => client?.destroy());

/** The status of a call that sends this and then says that it is done, and what was answered. */
async function call(
  path: string,
  bytes: Buffer,
  headers = {},
): Promise<{ status: string; body: Buffer; http: number }> {
  const stream = dial().request({ ...HEADERS, ...headers, ":path": path });
  let status = "";
  let http = 0;
  const pieces: Buffer[] = [];
  stream.on("response", (response) => {
    http = Number(response[":status"]);
    status = String(response["grpc-status"] ?? "");
  });
  stream.on("trailers", (trailers) => {
    status = String(trailers["grpc-status"]);
  });
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  stream.on("error", () => {});
  stream.end(bytes);
  await once(stream, "close");
  return { status, body: Buffer.concat(pieces), http };
}

/** A call whose handler has its first message. */
async function hold(settings = {}): Promise<ClientHttp2Stream> {
  const before = last;
  const stream = dial(settings).request({ ...HEADERS, ":path": "/test/Hold" });
  stream.on("error", () => {});
  stream.write(message(1));
  await waitFor(() => last !== before && last.received === 1, 5000);
  return stream;
}

test("carries messages both ways, however large", async () => {
  const bytes = Buffer.concat([message(0), message(3), message(MAX_BYTES)]);
  const { status, body } = await call("/test/Echo", bytes);
  assert.equal(status, String(Status.Ok));
  assert.ok(body.equals(bytes));
});

test("ends calls it can't serve with the status that says why", async () => {
  const compressed = message(3);
  compressed[0] = 1;
  assert.equal((await call("/test/Nothing", message(1))).status, String(Status.Unimplemented));
  assert.equal((await call("/test/Echo", compressed)).status, String(Status.Unimplemented));
  assert.equal((await call("/test/Echo", message(MAX_BYTES + 1))).status, String(Status.ResourceExhausted));
  assert.equal((await call("/test/Throw", message(1))).status, String(Status.Internal));
  assert.equal((await call("/test/Echo", message(1), { "content-type": "text/plain" })).http, 415);
});

test("holds the peer back while a call is paused", async () => {
  const stream = await hold();
  last.call.pause();
  const count = 200;
  for (let index = 0; index < count; index++) stream.write(message(65_536));
  await delay(200);
  // The window of 1 MiB, and what streams read ahead.
  assert.ok(last.received < 40, `${last.received} messages of 64 KiB`);
  assert.ok(stream.writableLength > 8 * MAX_BYTES);
  last.call.resume();
  await waitFor(() => last.received === count + 1, 5000);
});

test("tells when a peer that did not read has read", async () => {
  const stream = await hold({ initialWindowSize: 1000 });
  while (last.call.write(message(16_384)));
  assert.equal(last.drains, 0);
  stream.resume();
  await waitFor(() => last.drains > 0, 5000);
});

test("tells a handler once that the peer cancelled, also while it does not read", async () => {
  for (const isPaused of [false, true]) {
    const stream = await hold();
    if (isPaused) last.call.pause();
    stream.write(message(100));
    await delay(20);
    stream.close(constants.NGHTTP2_CANCEL);
    await waitFor(() => last.closes > 0, 5000);
    last.call.write(message(1));
    last.call.finish(message(1));
    last.call.fail(Status.Internal, "late");
    await delay(20);
    assert.equal(last.closes, 1);
  }
});
