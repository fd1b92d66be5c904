import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { completionJson } from "../../support/completion.js";

/** A model server that takes whatever Envoy passes on to it, so that what goes wrong is nobody's but the caller's. */
export class TolerantBackend {
  readonly #server: Server;

  constructor() {
    const settings = { maxHeaderSize: 1 << 22, insecureHTTPParser: true, keepAliveTimeout: 60_000 };
    this.#server = createServer(settings, (request, response) => {
      request.on("error", () => {});
      response.on("error", () => {});
      request.resume();
      request.on("end", () => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(completionJson("m", "a"));
      });
    });
    this.#server.maxHeadersCount = 0;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
