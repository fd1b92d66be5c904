import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { BackendView, ChainsView, EntryView, TrendsView } from "../../../extproc/control/schemas.js";
import type { StaticFile } from "../../../extproc/control/static-page.js";
import { loadPage } from "../../../extproc/page/load-page.js";

/** What it tells; undefined is a route that it does not have. */
export interface Told {
  backends: BackendView[];
  entries: EntryView[];
  chains: ChainsView | undefined;
  trends: TrendsView | undefined;
}

export interface Order {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** The page's files and an API that tells what a test says: for states that a real service is seldom in. */
export class FakeService {
  readonly orders: Order[] = [];
  /** Answers to orders, and their status. */
  answer: { status: number; body: unknown } = { status: 200, body: {} };
  private server: Server | undefined;
  private port = 0;
  private readonly streams = new Set<ServerResponse>();
  private readonly files = new Map<string, StaticFile>(loadPage().map((file) => [file.path, file]));

  constructor(readonly told: Told) {}

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Also after it was stopped, on the same port. */
  async start(): Promise<void> {
    this.server = createServer((ask, reply) => void this.onRequest(ask, reply));
    this.server.listen(this.port, "127.0.0.1");
    await once(this.server, "listening");
    this.port = (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  /** An entry that comes by the event stream. */
  push(entry: EntryView): void {
    this.told.entries.push(entry);
    const text = `id: ${entry.id}\nevent: ${entry.kind}\ndata: ${JSON.stringify(entry)}\n\n`;
    for (const stream of this.streams) stream.write(text);
  }

  get listeners(): number {
    return this.streams.size;
  }

  private async onRequest(ask: IncomingMessage, reply: ServerResponse): Promise<void> {
    const path = new URL(ask.url ?? "/", this.origin).pathname;
    const file = this.files.get(path);
    if (file !== undefined) {
      reply.writeHead(200, { "content-type": file.contentType }).end(file.body);
      return;
    }
    if (ask.method !== "GET") {
      const chunks: Buffer[] = [];
      for await (const chunk of ask) chunks.push(chunk as Buffer);
      this.orders.push({
        method: ask.method ?? "",
        path: ask.url ?? "",
        body: Buffer.concat(chunks).toString(),
      });
      this.json(reply, this.answer.body, this.answer.status);
      return;
    }
    this.tell(path, reply);
  }

  private tell(path: string, reply: ServerResponse): void {
    const { backends, entries, chains, trends } = this.told;
    if (path === "/v1/events") {
      reply.writeHead(200, { "content-type": "text/event-stream" });
      reply.write("retry: 2000\n\n");
      this.streams.add(reply);
      reply.once("close", () => this.streams.delete(reply));
      return;
    }
    const bodies: Record<string, unknown> = {
      "/v1/backends": { backends },
      "/v1/transitions": { entries },
      "/v1/chains": chains,
      "/v1/trends": trends,
    };
    const body = bodies[path];
    if (body === undefined) this.json(reply, { error: { message: "there is no such path" } }, 404);
    else this.json(reply, body, 200);
  }

  private json(reply: ServerResponse, body: unknown, status: number): void {
    reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }
}
