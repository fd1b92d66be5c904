import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import {
  decodeRequest,
  encodeResponse,
  type GivenDirective,
  type SentReport,
  type SentRequest,
} from "../../support/sync-messages.js";
import { clusterOf, type PolicyJson, type ShippedConfig } from "./shipped-config.js";

/** A request of the filter's sync, and when it came (performance.now). */
export interface Heard {
  readonly request: SentRequest;
  readonly atMs: number;
}

/** The service's side of the sync as a test wants it: says about each backend what `directives` holds. */
export class FakeService {
  readonly heard: Heard[] = [];
  /** What every answer says. */
  directives: readonly Omit<GivenDirective, "acknowledgedGeneration">[] = [];
  nextMs = 0;
  /** Takes requests and never answers. */
  hangs = false;
  mostInFlight = 0;
  #inFlight = 0;
  #server: Server | undefined;

  constructor(readonly port: number) {}

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", resolve));
  }

  /** Gone, as after a kill: nobody listens, and what was open is cut. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  }

  /** What was told last of a backend. */
  report(name: string): SentReport | undefined {
    return this.heard.at(-1)?.request.backends.find((each) => each.name === name);
  }

  /** A policy that syncs with this one, and needs it for nothing else. */
  name(policy: PolicyJson): void {
    policy.service = { cluster: "llm-breaker-service-http" };
    for (const backend of Object.values(policy.backends)) backend.rewritesBody = false;
  }

  /** Sends the sync here; the port is to be among the rig's `fixedPorts`. */
  patch(config: ShippedConfig): void {
    const [endpoints] = clusterOf(config, "llm-breaker-service-http").load_assignment.endpoints;
    const address = { socket_address: { address: "127.0.0.1", port_value: this.port } };
    if (endpoints) endpoints.lb_endpoints = [{ endpoint: { address } }];
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#inFlight++;
    this.mostInFlight = Math.max(this.mostInFlight, this.#inFlight);
    incoming.once("close", () => this.#inFlight--);
    const request = decodeRequest(await buffer(incoming));
    this.heard.push({ request, atMs: performance.now() });
    if (this.hangs) return;
    const directives = request.backends.map(({ name, generation }) => ({
      ...this.directives.find((each) => each.name === name),
      name,
      acknowledgedGeneration: generation,
    }));
    const { sequence } = request;
    response.writeHead(200, { "content-type": "application/x-protobuf" });
    response.end(encodeResponse({ sequence, directives, nextMs: this.nextMs }));
  }
}
