import { connect, type Socket } from "node:net";
import { ChunkedBody, headerValue, readHead } from "./message.js";
import type { RequestOfLine } from "./requests.js";

/** What every answer must be; anything else fails the bench. */
export interface Expectation {
  readonly status: number;
  /** Text that the answer's head holds. */
  readonly head?: string;
}

export interface LoadSettings {
  readonly port: number;
  readonly request: RequestOfLine;
  /** Called with the line's number for each piece of a chunked answer. */
  readonly onPiece?: (line: number) => void;
  readonly expect: Expectation;
  readonly connections: number;
}

export class UnexpectedAnswerError extends Error {
  override name = "UnexpectedAnswerError";
}

/** A closed loop: each connection sends its next request when the last one's answer is complete. */
export class Caller {
  /** Chunks of all chunked answers so far. */
  chunks = 0;
  readonly #settings: LoadSettings;
  readonly #lines: Line[] = [];

  constructor(settings: LoadSettings) {
    this.#settings = settings;
  }

  /** Sends `count` requests. Connections stay open for the next call. */
  async send(count: number): Promise<void> {
    let left = count;
    await this.#send(() => left-- > 0);
  }

  /** Sends requests for so long, and tells how many. */
  async sendFor(periodMs: number): Promise<number> {
    const endMs = performance.now() + periodMs;
    let sent = 0;
    await this.#send(() => performance.now() < endMs && ++sent > 0);
    return sent;
  }

  close(): void {
    for (const line of this.#lines) line.close();
  }

  async #send(takeNext: () => boolean): Promise<void> {
    while (this.#lines.length < this.#settings.connections) this.#lines.push(await Line.open(this.#settings));
    await Promise.all(this.#lines.map((line) => line.run(takeNext)));
    this.chunks = this.#lines.reduce((sum, line) => sum + line.chunks, 0);
  }
}

let lineCount = 0;

class Line {
  chunks = 0;
  readonly #socket: Socket;
  readonly #settings: LoadSettings;
  readonly #request: Buffer;
  readonly #number: number;
  #pending: Buffer = Buffer.alloc(0);
  #chunked: ChunkedBody | undefined;
  #next: () => boolean = () => false;
  #finish: () => void = () => {};
  #fail: (error: Error) => void = () => {};

  private constructor(socket: Socket, settings: LoadSettings) {
    this.#number = ++lineCount;
    this.#request = settings.request(this.#number);
    this.#socket = socket;
    this.#settings = settings;
    socket.on("data", (bytes) => this.#onData(bytes));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new UnexpectedAnswerError("Envoy closed a connection")));
  }

  static async open(settings: LoadSettings): Promise<Line> {
    const socket = connect({ port: settings.port, host: "127.0.0.1", noDelay: true });
    await new Promise((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new Line(socket, settings);
  }

  run(next: () => boolean): Promise<void> {
    this.#next = next;
    return new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
      this.#sendNext();
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #sendNext(): void {
    if (this.#next()) this.#socket.write(this.#request);
    else this.#finish();
  }

  #onData(bytes: Buffer): void {
    try {
      if (this.#chunked) this.#onChunks(this.#chunked, bytes, 0);
      else this.#onStart(bytes);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #onStart(bytes: Buffer): void {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    const message = readHead(this.#pending);
    if (!message) return;
    const length = headerValue(message.head, "content-length");
    if (length !== undefined && this.#pending.length < message.bodyAt + Number(length)) return;
    this.#check(message.head);
    const received = this.#pending;
    this.#pending = Buffer.alloc(0);
    if (length !== undefined) {
      this.#sendNext();
      return;
    }
    this.#chunked = new ChunkedBody();
    this.#onChunks(this.#chunked, received, message.bodyAt);
  }

  #onChunks(body: ChunkedBody, bytes: Buffer, from: number): void {
    const before = body.chunks;
    body.feed(bytes, from);
    if (!body.done) {
      // Some come together at an answer's start: one piece in hand asks for one more.
      if (body.chunks > before) this.#settings.onPiece?.(this.#number);
      return;
    }
    this.chunks += body.chunks;
    this.#chunked = undefined;
    this.#sendNext();
  }

  #check(head: string): void {
    const { status, head: text } = this.#settings.expect;
    if (head.startsWith(`HTTP/1.1 ${status} `) && (text === undefined || head.includes(text))) return;
    throw new UnexpectedAnswerError(`expected ${status}${text ? ` with "${text}"` : ""}, got:\n${head}`);
  }
}
