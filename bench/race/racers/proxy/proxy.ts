import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import type { CreateGuard, Guard } from "./guard.js";
import { type Ask, ask, passedOn } from "./upstream.js";

export interface ProxySettings {
  readonly nodes: readonly number[];
  readonly fallback: number;
  /** Until the first byte of a streamed answer from a node. */
  readonly firstEventMs: number;
  /** Until the first byte of an answer that comes whole, which is when it is finished. */
  readonly wholeMs: number;
  /** As above, of the last server that there is. */
  readonly fallbackMs: number;
  /** Silence that ends a stream. */
  readonly stallMs: number;
  readonly capacity: number;
  readonly waitMs: number;
}

class CallerLeftError extends Error {
  override name = "CallerLeftError";
}

const bodyLimitBytes = 32 * 1024 * 1024;
/** Nodes that one request may be sent to; an attempt that a guard refused is none. */
const mostNodes = 2;

/**
 * A proxy as one would write it around a breaker library: a guard for each node, the nodes in turn, a second node where
 * there is one, and the fallback when no node gave a first byte. After it the answer is passed on as it comes.
 */
export class BreakerProxy {
  readonly #settings: ProxySettings;
  readonly #nodes: readonly { readonly port: number; readonly guard: Guard }[];
  readonly #server: Server;
  #turn = 0;

  constructor(settings: ProxySettings, createGuard: CreateGuard) {
    this.#settings = settings;
    const { capacity, waitMs } = settings;
    const isFailure = (error: unknown): boolean => !(error instanceof CallerLeftError);
    this.#nodes = settings.nodes.map((port) => ({
      port,
      guard: createGuard({ capacity, waitMs, isFailure }),
    }));
    this.#server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
      this.#serve(request, response).catch((error: Error) => answerError(response, error));
    });
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const left = new AbortController();
    response.on("close", () => left.abort(new CallerLeftError("the caller left")));
    const { method = "GET", url: path = "/", headers } = request;
    const body = await readBody(request);
    const message = await this.#answer({ method, path, headers, body }, left.signal);
    if (left.signal.aborted) {
      message.destroy();
      return;
    }
    response.writeHead(message.statusCode ?? 502, passedOn(message.headers));
    const stall = setTimeout(() => message.destroy(), this.#settings.stallMs);
    message.on("data", () => stall.refresh()).once("close", () => clearTimeout(stall));
    // An end before its time breaks the caller's connection, which is all that can be said after the first byte.
    pipeline(message, response, () => {});
  }

  async #answer(asked: Ask, left: AbortSignal): Promise<IncomingMessage> {
    const { nodes, firstEventMs, wholeMs, fallback, fallbackMs } = this.#settings;
    const firstByteMs = isStreamed(asked.body) ? firstEventMs : wholeMs;
    const from = this.#turn++;
    let sent = 0;
    for (let step = 0; step < nodes.length && sent < mostNodes; step++) {
      const node = this.#nodes[(from + step) % nodes.length];
      try {
        const answer = await node?.guard((signal) => {
          sent++;
          return ask(node.port, asked, AbortSignal.any([signal, left]));
        }, firstByteMs);
        if (answer) return answer;
      } catch (error) {
        if (left.aborted) throw error;
      }
    }
    return await ask(fallback, asked, AbortSignal.any([AbortSignal.timeout(fallbackMs), left]));
  }
}

function isStreamed(body: Buffer): boolean {
  try {
    return (JSON.parse(body.toString("utf8")) as { stream?: unknown } | null)?.stream === true;
  } catch {
    return false;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > bodyLimitBytes) throw new Error("the body is too long");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function answerError(response: ServerResponse, { message }: Error): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(502, { "content-type": "application/json" }).end(JSON.stringify({ error: { message } }));
}
