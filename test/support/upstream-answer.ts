import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { completionJson, doneEvent, finishEvent, roleEvent, tokenEvent } from "./completion.js";
import type { Arrival } from "./upstream.js";
import type { Mode, Write } from "./upstream-mode.js";

export type Incoming = IncomingMessage | Http2ServerRequest;
export type Outgoing = ServerResponse | Http2ServerResponse;

const eventStream = { "content-type": "text/event-stream", "cache-control": "no-cache" };
const json = { "content-type": "application/json" };

/** Plays `mode`. Ends early when the other side has gone. */
export async function answer(
  mode: Mode,
  arrival: Arrival,
  request: Incoming,
  response: Outgoing,
): Promise<void> {
  const { model, streamed } = wishes(arrival.body);
  switch (mode.kind) {
    case "ok":
      if (mode.delayMs) await sleep(mode.delayMs);
      if (streamed) return await writeAll(response, eventStream, wholeStream(model, 5, 0));
      return await writeSized(response, 200, json, completionJson(model, "Hello."));
    case "status":
      return await writeSized(
        response,
        mode.status,
        mode.headers ?? json,
        mode.body ?? errorBody(mode.status),
      );
    case "sse":
      return await writeAll(response, eventStream, wholeStream(model, mode.events, mode.gapMs ?? 0));
    case "sseError": {
      const error = mode.error ?? {
        message: "EngineCore encountered an issue.",
        type: "InternalServerError",
        code: 500,
      };
      const failure = `data: ${JSON.stringify({ error })}\n\n`;
      return await writeAll(response, eventStream, [...tokens(model, mode.at, 0), failure, doneEvent]);
    }
    case "doneOnly":
      return await writeAll(response, eventStream, [doneEvent]);
    case "cut":
      await writeOpen(response, eventStream, tokens(model, mode.at, mode.gapMs ?? 0));
      if (mode.how === "clean") response.end();
      else breakOff(request, response);
      return;
    case "stall":
      return await writeOpen(response, eventStream, []);
    case "hang":
      return;
    case "ttft": {
      const [role = "", ...rest] = wholeStream(model, mode.events ?? 5, 0);
      return await writeAll(response, eventStream, [role, { waitMs: mode.ms }, ...rest]);
    }
    case "raw":
      return await writeRaw(request, mode.writes, mode.close ?? true);
    case "chunks":
      return await writeAll(response, mode.headers ?? eventStream, mode.writes);
    case "echo":
      return await writeSized(response, 200, json, echoBody(arrival));
    case "bigJson":
      return await writeSized(response, 200, json, completionJson(model, "x".repeat(mode.bytes)));
    case "reset":
      return breakOff(request, response);
  }
}

function wishes(body: Buffer): { model: string; streamed: boolean } {
  try {
    const asked = JSON.parse(body.toString("utf8"));
    return { model: typeof asked.model === "string" ? asked.model : "fake", streamed: asked.stream === true };
  } catch {
    return { model: "fake", streamed: false };
  }
}

function tokens(model: string, count: number, gapMs: number): Write[] {
  const writes: Write[] = count > 0 ? [roleEvent(model)] : [];
  for (let index = 0; index < count; index++) {
    if (gapMs > 0) writes.push({ waitMs: gapMs });
    writes.push(tokenEvent(model, ` token${index}`));
  }
  return writes;
}

function wholeStream(model: string, events: number, gapMs: number): Write[] {
  return [...tokens(model, events, gapMs), finishEvent(model), doneEvent];
}

function errorBody(status: number): string {
  return JSON.stringify({ error: { message: `status ${status}`, type: "server_error", code: status } });
}

function echoBody(arrival: Arrival): string {
  const { method, path, headers, bodyBytes, bodySha256, body } = arrival;
  return JSON.stringify({
    method,
    path,
    headers,
    bytes: bodyBytes,
    sha256: bodySha256,
    body: body.toString("base64"),
  });
}

async function writeSized(
  response: Outgoing,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<void> {
  const length = { "content-length": String(Buffer.byteLength(body)) };
  // A chunked answer is asked for by naming the transfer coding.
  response.writeHead(status, headers["transfer-encoding"] ? headers : { ...length, ...headers });
  response.end(body);
}

async function writeAll(
  response: Outgoing,
  headers: Readonly<Record<string, string>>,
  writes: readonly Write[],
): Promise<void> {
  await writeOpen(response, headers, writes);
  if (!response.destroyed) response.end();
}

async function writeOpen(
  response: Outgoing,
  headers: Readonly<Record<string, string>>,
  writes: readonly Write[],
): Promise<void> {
  response.writeHead(200, headers);
  // Node keeps headers back until the first body byte otherwise.
  if ("flushHeaders" in response) response.flushHeaders();
  for (const write of writes) {
    if (response.destroyed) return;
    await put((bytes) => (response as ServerResponse).write(bytes), write);
  }
}

async function writeRaw(request: Incoming, writes: readonly Write[], close: boolean): Promise<void> {
  const { socket } = request;
  for (const write of writes) {
    if (socket.destroyed) return;
    await put((bytes) => socket.write(bytes), write);
  }
  if (close) socket.end();
}

/** One write, given time to leave as a segment of its own. */
async function put(send: (bytes: Uint8Array) => unknown, write: Write): Promise<void> {
  if (typeof write === "object" && "waitMs" in write) return void (await sleep(write.waitMs));
  send(typeof write === "string" ? Buffer.from(write, "latin1") : write);
  await new Promise((resolve) => setImmediate(resolve));
}

function breakOff(request: Incoming, response: Outgoing): void {
  if ("stream" in request) {
    request.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    return;
  }
  // An orderly close would look like a stream that ended by its connection's end.
  request.socket.resetAndDestroy();
  response.destroy();
}
