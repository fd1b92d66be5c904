import {
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { completionJson } from "../../support/completion.js";

/** A request as a backend that speaks HTTP/2 saw it, trailers and all. */
export interface H2Arrival {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: string;
}

export type Play = (stream: ServerHttp2Stream, arrival: H2Arrival) => void;

/** A model server that speaks HTTP/2, and answers as `play` says. */
export class H2Backend {
  readonly arrivals: H2Arrival[] = [];
  play: Play = answerWell;
  readonly #server = createServer();
  readonly #sessions = new Set<ServerHttp2Session>();

  async listen(): Promise<void> {
    this.#server.on("session", (session) => {
      this.#sessions.add(session);
      session.on("error", () => {});
      session.on("close", () => this.#sessions.delete(session));
    });
    this.#server.on("stream", (stream, headers) => this.#take(stream, headers));
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    for (const session of this.#sessions) session.destroy();
    this.#server.close();
  }

  #take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    let trailers: IncomingHttpHeaders = {};
    const pieces: Buffer[] = [];
    stream.on("error", () => {});
    stream.on("trailers", (came: IncomingHttpHeaders) => {
      trailers = came;
    });
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    stream.on("end", () => {
      const arrival = { headers, trailers, body: Buffer.concat(pieces).toString() };
      this.arrivals.push(arrival);
      this.play(stream, arrival);
    });
  }
}

/** A whole answer, some time after: a timeout that somebody forged would show. */
export function answerWell(stream: ServerHttp2Stream): void {
  setTimeout(() => {
    if (stream.destroyed) return;
    stream.respond({ ":status": 200, "content-type": "application/json" });
    stream.end(completionJson("m", "a"));
  }, 30);
}
