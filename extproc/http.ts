import { createServer, type Server } from "node:http";

/** What /healthz tells, asked anew each time. */
export interface HealthFacts {
  isServing(): boolean;
  /** True while the file holds a configuration that is not in use, since it is wrong. */
  isConfigStale(): boolean;
  /** Backends whose engines have a long queue. */
  longQueues(): readonly string[];
}

/** The gate reads no more of the header. */
const MAX_DEGRADE_BYTES = 512;
/** Each worker of Envoy has one. */
export const MAX_CONNECTIONS = 256;
const HEADERS_TIMEOUT_MS = 5_000;

/** GET /healthz: 200 `ok` while serving, 503 `draining` afterwards; anything else is 404. */
export function createHttpServer(facts: HealthFacts): Server {
  const limits = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: HEADERS_TIMEOUT_MS,
    maxHeaderSize: 8192,
  };
  const server = createServer({ ...limits, connectionsCheckingInterval: 1_000 }, (request, response) => {
    const path = (request.url ?? "").split("?", 1)[0];
    const isHealth = path === "/healthz" && (request.method === "GET" || request.method === "HEAD");
    const status = isHealth ? (facts.isServing() ? 200 : 503) : 404;
    const text = { 200: "ok\n", 503: "draining\n", 404: "not found\n" }[status];
    response.writeHead(status, {
      "content-type": "text/plain",
      "content-length": Buffer.byteLength(text),
      ...(isHealth ? healthHeaders(facts) : {}),
    });
    response.end(request.method === "HEAD" ? undefined : text);
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

function healthHeaders(facts: HealthFacts): Record<string, string> {
  const headers: Record<string, string> = {};
  if (facts.isConfigStale()) headers["x-llm-breaker-config"] = "stale";
  const degrade = joinWithin(facts.longQueues(), MAX_DEGRADE_BYTES);
  if (degrade !== "") headers["x-llm-breaker-degrade"] = degrade;
  return headers;
}

/** Whole names only: half a name would be another backend's. */
function joinWithin(names: readonly string[], maxBytes: number): string {
  let text = "";
  for (const name of names) {
    const longer = text === "" ? name : `${text}, ${name}`;
    if (Buffer.byteLength(longer) > maxBytes) break;
    text = longer;
  }
  return text;
}
