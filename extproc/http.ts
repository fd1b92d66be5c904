import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Logger } from "pino";

/** Answers what is asked on one path, by whatever method. */
export type Endpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** By their paths. */
export type Endpoints = ReadonlyMap<string, Endpoint>;

/** Each worker of Envoy has one. */
export const MAX_CONNECTIONS = 256;
const HEADERS_TIMEOUT_MS = 5_000;

/** What is asked on a path of `endpoints` is theirs to answer; anything else is 404. */
export function createHttpServer(endpoints: Endpoints, log: Pick<Logger, "error">): Server {
  const limits = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: HEADERS_TIMEOUT_MS,
    maxHeaderSize: 8192,
  };
  const server = createServer({ ...limits, connectionsCheckingInterval: 1_000 }, (request, response) => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const endpoint = endpoints.get(path) ?? answerNotFound;
    void guard(endpoint, request, response).catch((err: unknown) => {
      log.error({ path, err }, "request can't be answered");
      if (response.headersSent) response.destroy();
      else answerText(response, 500, "internal error");
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

/** One line of text; `headers` are beside its own. */
export function answerText(
  response: ServerResponse,
  status: number,
  line: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = `${line}\n`;
  response.writeHead(status, {
    "content-type": "text/plain",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  // Node leaves the text out of the answer to a HEAD.
  response.end(text);
}

export function answerNotFound(_request: IncomingMessage, response: ServerResponse): void {
  answerText(response, 404, "not found");
}

async function guard(endpoint: Endpoint, request: IncomingMessage, response: ServerResponse): Promise<void> {
  await endpoint(request, response);
}
