import { createServer, type Server, type Socket } from "node:net";
import { type StreamShape, shapeHeader, stamped, writesOfShape } from "./event-stream.js";
import { headerValue, readHead } from "./message.js";

const tickMs = 1;

/** Where answers were when their connection closed under them. */
export interface CutCounts {
  beforeHeaders: number;
  /** Head and role were out, no token. */
  whileHeld: number;
  midStream: number;
}

interface OpenAnswer {
  readonly socket: Socket;
  readonly shape: StreamShape;
  readonly writes: readonly Buffer[];
  /** How many of them are out. */
  written: number;
  dueMs: number;
}

/** Path at which the upstream tells its {@link CutCounts}. */
export const cutsPath = "/cuts";

/** A model server whose answers go out by the clock. Any GET but one for its counts is a health check. */
export class PacedUpstream {
  readonly #server: Server;
  readonly #writesOf = new Map<string, [StreamShape, readonly Buffer[]]>();
  readonly #open = new Set<OpenAnswer>();
  readonly #cuts: CutCounts = { beforeHeaders: 0, whileHeld: 0, midStream: 0 };

  private constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  }

  static async listen(port: number): Promise<PacedUpstream> {
    const upstream = new PacedUpstream();
    await new Promise<void>((resolve, reject) => {
      upstream.#server.once("error", reject);
      upstream.#server.listen({ port, host: "127.0.0.1", backlog: 4096 }, resolve);
    });
    setInterval(() => upstream.#writeDue(), tickMs);
    return upstream;
  }

  #serve(socket: Socket): void {
    let pending: Buffer = Buffer.alloc(0);
    let answer: OpenAnswer | undefined;
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      if (answer && this.#open.delete(answer)) this.#count(answer);
    });
    socket.on("data", (bytes) => {
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      const message = readHead(pending);
      if (!message) return;
      const length = Number(headerValue(message.head, "content-length") ?? 0);
      if (pending.length < message.bodyAt + length) return;
      pending = pending.subarray(message.bodyAt + length);
      const shape = headerValue(message.head, shapeHeader);
      if (shape === undefined) this.#answerAtOnce(socket, message.head);
      else answer = this.#start(socket, shape);
    });
  }

  #answerAtOnce(socket: Socket, head: string): void {
    const body = head.startsWith(`GET ${cutsPath} `) ? JSON.stringify(this.#cuts) : "{}";
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  }

  #start(socket: Socket, shapeText: string): OpenAnswer {
    let known = this.#writesOf.get(shapeText);
    if (!known) {
      const parsed = JSON.parse(shapeText) as StreamShape;
      known = [parsed, writesOfShape(parsed)];
      this.#writesOf.set(shapeText, known);
    }
    const [shape, writes] = known;
    const answer = { socket, shape, writes, written: 0, dueMs: performance.now() + shape.waitMs };
    this.#open.add(answer);
    return answer;
  }

  /** One write an answer and tick: when this process was late it does not catch up, which would send two at once. */
  #writeDue(): void {
    const now = performance.now();
    for (const answer of this.#open) {
      const write = answer.writes[answer.written];
      if (!write || answer.dueMs > now || answer.written === answer.shape.silentAfterWrites) continue;
      answer.written++;
      answer.dueMs = now + answer.shape.gapMs;
      if (answer.written === answer.writes.length) this.#open.delete(answer);
      answer.socket.write(answer.shape.isStamped ? stamped(write) : write);
    }
  }

  #count({ written }: OpenAnswer): void {
    if (written === 0) this.#cuts.beforeHeaders++;
    else if (written === 1) this.#cuts.whileHeld++;
    else this.#cuts.midStream++;
  }
}
