import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import type { OtherMember } from "../../../extproc/peers/group.js";
import type { BackendReport } from "../../../extproc/sync/contract.js";
import { webhooksSettings } from "../../../extproc/webhook/settings.js";
import type { ListedGateway } from "../../../extproc/webhook/standings.js";
import { readTargets } from "../../../extproc/webhook/target.js";
import { Webhooks } from "../../../extproc/webhook/webhooks.js";
import { report } from "./control.js";

export const WALL_MS = 1_800_000_000_000;

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a message's fields are what tests are about.
  readonly body: any;
}

/** Somebody's receiver of webhooks. */
export class Receiver {
  readonly received: Received[] = [];
  answer: (response: ServerResponse) => void = (response) => response.writeHead(204).end();
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece) => pieces.push(piece));
      request.on("end", () => {
        const text = Buffer.concat(pieces).toString();
        this.received.push({ headers: request.headers, text, body: JSON.parse(text) });
        this.answer(response);
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/secret-path`;
  }

  async listen(): Promise<string> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return this.url;
  }

  /** As `event status backend`, in the order in which they came. */
  get told(): string[] {
    return this.received.map(({ body }) => `${body.event} ${body.status} ${body.backend}`);
  }

  status(...codes: number[]): void {
    this.answer = (response) =>
      response.writeHead(codes.length > 1 ? (codes.shift() ?? 204) : (codes[0] ?? 204)).end();
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** Webhooks on a clock that the test moves, with gateways and a group that it speaks for. */
export class WebhookRig {
  now = 1_000_000;
  others: OtherMember[] = [];
  readonly gateways = new Map<string, Map<string, { report: BackendReport }>>();
  readonly lines: string[] = [];
  readonly webhooks: Webhooks;
  private generation = 1;

  constructor(readonly id = "a/1") {
    this.webhooks = new Webhooks({
      log: pino({}, { write: (line: string) => void this.lines.push(line) }),
      now: () => this.now,
      wallNow: () => WALL_MS + this.now,
      random: () => 1,
      service: "service-a",
      gateways: () =>
        [...this.gateways].map(
          ([node, backends]): ListedGateway => ({ node, process: `p-${node}`, silentMs: 0, backends }),
        ),
      group: {
        id,
        isNew: false,
        others: () => this.others,
      },
    });
  }

  apply(webhooks: unknown[]): void {
    this.webhooks.apply(readTargets(webhooksSettings.parse(webhooks)));
  }

  tell(node: string, backend: string, changes: Partial<BackendReport> = {}): void {
    const backends = this.gateways.get(node) ?? new Map<string, { report: BackendReport }>();
    this.gateways.set(node, backends.set(backend, { report: report(backend, changes) }));
  }

  /** A gateway's backend opens, and tells why. */
  open(node: string, backend: string): void {
    const opening = {
      generation: ++this.generation,
      stage: 0,
      openings: 1,
      ageMs: 0,
      waitMs: 5_000,
    } as const;
    const figures = { calls: 20, weightedFailures: 1_000, consecutiveFailures: 3 };
    this.webhooks.note(backend, {
      from: "CLOSED",
      to: "OPEN",
      cause: "FAILURE_RATE",
      ...opening,
      ...figures,
    });
    this.tell(node, backend, { state: "OPEN" });
  }

  /** Time goes on, looked at each half second. */
  async pass(ms: number): Promise<void> {
    for (const end = this.now + ms; this.now < end; ) {
      this.now += Math.min(500, end - this.now);
      this.webhooks.step();
      await this.webhooks.settled();
    }
  }

  counts(): Record<string, number> {
    return Object.fromEntries([...this.webhooks.deliveries()].map(({ result, count }) => [result, count]));
  }
}
