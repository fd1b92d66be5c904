import { createServer, type Server, type Socket } from "node:net";
import { type AnswerKind, answerHeader, lineHeader, writesOf } from "./answers.js";
import { headerValue, readHead } from "./message.js";

const kinds: readonly AnswerKind[] = ["tiny", "events", "hold", "dead"];
const answers: ReadonlyMap<string, readonly Buffer[]> = new Map(kinds.map((kind) => [kind, writesOf(kind)]));

/** Head, role and first token go out at once: a filter may hold them back until the last of them. */
const writesAtStart = 3;

interface OpenAnswer {
  readonly socket: Socket;
  readonly writes: readonly Buffer[];
  at: number;
}

/** The model servers of the bench: canned bytes for each kind of answer. Answers our service's health check too. */
export class Upstream {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #open = new Map<string, OpenAnswer>();

  private constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  }

  static async listen(port: number): Promise<Upstream> {
    const upstream = new Upstream();
    await new Promise<void>((resolve, reject) => {
      upstream.#server.once("error", reject);
      upstream.#server.listen({ port, host: "127.0.0.1", backlog: 4096 }, resolve);
    });
    return upstream;
  }

  /**
   * The caller on `line` has received an event: now the next one may go. So Envoy reads the events one by one, as
   * a model sends them, and no clock is needed for it.
   */
  sendNextEvent(line: number): void {
    const answer = this.#open.get(String(line));
    const bytes = answer?.writes[answer.at++];
    if (answer && bytes) answer.socket.write(bytes);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(socket: Socket): void {
    let pending: Buffer = Buffer.alloc(0);
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes) => {
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      for (let message = readHead(pending); message; message = readHead(pending)) {
        const length = Number(headerValue(message.head, "content-length") ?? 0);
        if (pending.length < message.bodyAt + length) return;
        pending = pending.subarray(message.bodyAt + length);
        this.#answer(socket, message.head);
      }
    });
  }

  #answer(socket: Socket, head: string): void {
    const kind = headerValue(head, answerHeader) ?? "tiny";
    const writes = answers.get(kind);
    if (!writes) throw new Error(`no answer of kind ${kind}`);
    for (const bytes of writes.slice(0, writesAtStart)) socket.write(bytes);
    if (writes.length <= writesAtStart) return;
    this.#open.set(String(headerValue(head, lineHeader)), { socket, writes, at: writesAtStart });
  }
}
