import { connect, type Socket } from "node:net";
import { build, type Histogram } from "hdr-histogram-js";
import { headerValue, readHead } from "../load/message.js";
import type { RequestOfLine } from "../load/requests.js";

const tickMs = 1;

interface Line {
  readonly socket: Socket;
  readonly request: Buffer;
  pending: Buffer;
  dueAt: number;
}

/**
 * An open loop: requests go out by the clock, whether earlier ones are answered or not, and a request's time counts
 * from when it was due. So a stall is seen by all whom it would have hit.
 */
export class PacedCaller {
  readonly #port: number;
  readonly #request: RequestOfLine;
  readonly #idle: Line[] = [];
  readonly #all: Line[] = [];
  #micros: Histogram = build({ numberOfSignificantValueDigits: 3 });
  #open = 0;
  #error: Error | undefined;

  constructor(port: number, request: RequestOfLine) {
    this.#port = port;
    this.#request = request;
  }

  /** Sends at `perSecond` for `periodMs`, waits for the last answer, and gives the times in microseconds. */
  async send(perSecond: number, periodMs: number): Promise<Histogram> {
    this.#micros = build({ numberOfSignificantValueDigits: 3 });
    const startedAt = performance.now();
    const total = Math.round((perSecond * periodMs) / 1000);
    let sent = 0;
    while (sent < total || this.#open > 0) {
      if (this.#error) throw this.#error;
      const now = performance.now();
      for (; sent < total && startedAt + (sent * 1000) / perSecond <= now; sent++)
        await this.#sendOne(startedAt + (sent * 1000) / perSecond);
      await new Promise((resolve) => setTimeout(resolve, tickMs));
    }
    return this.#micros;
  }

  close(): void {
    for (const { socket } of this.#all) socket.destroy();
  }

  async #sendOne(dueAt: number): Promise<void> {
    const line = this.#idle.pop() ?? (await this.#connect());
    line.dueAt = dueAt;
    this.#open++;
    line.socket.write(line.request);
  }

  async #connect(): Promise<Line> {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    await new Promise((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    const line: Line = {
      socket,
      request: this.#request(this.#all.length),
      pending: Buffer.alloc(0),
      dueAt: 0,
    };
    this.#all.push(line);
    socket.on("data", (bytes) => this.#onData(line, bytes));
    socket.on("error", (error) => {
      this.#error = error;
    });
    return line;
  }

  #onData(line: Line, bytes: Buffer): void {
    line.pending = line.pending.length === 0 ? bytes : Buffer.concat([line.pending, bytes]);
    const message = readHead(line.pending);
    if (!message) return;
    const length = Number(headerValue(message.head, "content-length"));
    if (line.pending.length < message.bodyAt + length) return;
    if (!message.head.startsWith("HTTP/1.1 200 "))
      this.#error = new Error(`unexpected answer:\n${message.head}`);
    this.#micros.recordValue(Math.max(1, Math.round((performance.now() - line.dueAt) * 1000)));
    line.pending = Buffer.alloc(0);
    this.#open--;
    this.#idle.push(line);
  }
}
