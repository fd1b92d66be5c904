import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { waitFor } from "../wait-for.js";
import { readSpans, type Span } from "./spans.js";

/** What came to the collector in one request. */
export interface Export {
  readonly headers: IncomingHttpHeaders;
  readonly spans: readonly Span[];
}

/** Takes spans as OTLP over HTTP, binary or JSON, as an OpenTelemetry collector does on port 4318. */
export class Collector {
  readonly exports: Export[] = [];
  /** What it answers, 0 = nothing; it keeps what comes all the same. */
  status = 200;

  constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  get spans(): readonly Span[] {
    return this.exports.flatMap(({ spans }) => spans);
  }

  /** The spans of one trace, once they are what `isWhole` waits for: exporters send them by the second. */
  async trace(traceId: string, isWhole: (spans: readonly Span[]) => boolean): Promise<readonly Span[]> {
    const find = () => this.spans.filter((span) => span.traceId === traceId);
    try {
      await waitFor(() => isWhole(find()), 5_000, `the spans of trace ${traceId}`);
    } catch (cause) {
      throw new Error(`${String(cause)}; came: ${JSON.stringify(find(), null, 1)}`, { cause });
    }
    return find();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

export async function startCollector(): Promise<Collector> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const spans = readSpans(Buffer.concat(chunks), request.headers["content-type"] ?? "");
    collector.exports.push({ headers: request.headers, spans });
    const status = request.url === "/v1/traces" ? collector.status : 404;
    if (status > 0) response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const collector = new Collector(server, (server.address() as AddressInfo).port);
  return collector;
}
