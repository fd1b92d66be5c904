import { createServer, type Server } from "node:http";

/** GET /healthz: 200 `ok` while serving, 503 `draining` afterwards; anything else is 404. */
export function createHttpServer(isServing: () => boolean): Server {
  return createServer((request, response) => {
    const path = (request.url ?? "").split("?", 1)[0];
    const isHealth = path === "/healthz" && (request.method === "GET" || request.method === "HEAD");
    const status = isHealth ? (isServing() ? 200 : 503) : 404;
    const text = isHealth ? (isServing() ? "ok\n" : "draining\n") : "not found\n";
    response.writeHead(status, { "content-type": "text/plain", "content-length": Buffer.byteLength(text) });
    response.end(request.method === "HEAD" ? undefined : text);
  });
}
