import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { type Address, type Endpoint, hostOf } from "./endpoint.js";
import type { EngineFigures } from "./engine-metrics.js";
import { PageScanner } from "./page-scanner.js";

/** A page of vLLM with a hundred LoRA adapters is some 300 kB. */
const MAX_PAGE_BYTES = 2_097_152;

/** A page could not be read; the message says why and holds nothing of the page or of what was sent. */
export class PageError extends Error {
  override name = "PageError";
}

/** How one endpoint's page is read. */
export interface Page {
  /** @throws PageError, or an error of the connection; no later than `timeLimitMs` after the call. */
  read(timeLimitMs: number, token?: string): Promise<EngineFigures>;
  close(): void;
}

/** Reads a page over one connection, which is kept. Redirects are not followed: what a page moved to was not configured. */
export class PageReader implements Page {
  private readonly agent: http.Agent;
  private readonly options: RequestOptions;
  private readonly open: typeof http.request;

  constructor({ url, addresses }: Endpoint) {
    const client = url.protocol === "https:" ? https : http;
    this.open = client.request;
    // One agent for each: sockets to different addresses of one host would be mixed up in a common one.
    this.agent = new client.Agent({ keepAlive: true, maxSockets: 1 });
    this.options = {
      protocol: url.protocol,
      host: hostOf(url),
      port: url.port,
      path: url.pathname + url.search,
      agent: this.agent,
      lookup: lookupOf(addresses),
      maxHeaderSize: 16_384,
    };
  }

  async read(timeLimitMs: number, token?: string): Promise<EngineFigures> {
    const endAt = performance.now() + timeLimitMs;
    const headers = {
      accept: "text/plain;version=0.0.4",
      "accept-encoding": "identity",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const attempt = () => new Reading(this.open({ ...this.options, headers }), endAt - performance.now());
    const first = attempt();
    try {
      return await first.figures;
    } catch (cause) {
      if (!first.metStaleConnection(cause)) throw cause;
      return attempt().figures;
    }
  }

  close(): void {
    this.agent.destroy();
  }
}

/** One request, from its start to the page's end. */
class Reading {
  readonly figures: Promise<EngineFigures>;
  private hasAnswer = false;

  constructor(
    private readonly request: ClientRequest,
    timeLimitMs: number,
  ) {
    this.figures = new Promise((resolve, reject) => {
      const fail = (problem: string) => request.destroy(new PageError(problem));
      const timer = setTimeout(() => fail("did not come whole in time"), timeLimitMs);
      request.once("close", () => {
        clearTimeout(timer);
        reject(new PageError("was cut"));
      });
      request.on("error", reject);
      request.once("response", (response) => {
        this.hasAnswer = true;
        response.on("error", reject);
        const problem = problemOf(response);
        if (problem !== undefined) return fail(problem);
        scan(response, resolve, fail);
      });
      request.end();
    });
  }

  /** The engine closed the connection that was kept just when it was to be used again: nobody's fault. */
  metStaleConnection(cause: unknown): boolean {
    const code = (cause as NodeJS.ErrnoException).code;
    return this.request.reusedSocket && !this.hasAnswer && (code === "ECONNRESET" || code === "EPIPE");
  }
}

function problemOf({ statusCode, headers }: IncomingMessage): string | undefined {
  if (statusCode !== 200) return `answered status ${statusCode}`;
  const coding = headers["content-encoding"] ?? "identity";
  return coding === "identity" ? undefined : `is encoded as ${coding.slice(0, 32)}, though asked for plain`;
}

function scan(
  response: IncomingMessage,
  resolve: (figures: EngineFigures) => void,
  fail: (problem: string) => void,
): void {
  const scanner = new PageScanner();
  let byteLength = 0;
  response.on("data", (piece: Buffer) => {
    byteLength += piece.length;
    if (byteLength > MAX_PAGE_BYTES) fail(`is larger than ${MAX_PAGE_BYTES} bytes`);
    else scanner.feed(piece);
  });
  // A page that was cut has no end.
  response.once("end", () => resolve(scanner.end()));
}

function lookupOf(addresses: readonly Address[]): LookupFunction {
  return (_host, { all }, tell) => {
    const [first] = addresses;
    if (first === undefined) return tell(new PageError("has no address"), []);
    if (all) tell(null, [...addresses]);
    else tell(null, first.address, first.family);
  };
}
