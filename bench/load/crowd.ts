import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { answerHeader } from "./answers.js";
import { UnexpectedAnswerError } from "./caller.js";

const streamsPerConnection = 100;
const openAtOnce = 64;
const body = JSON.stringify({
  model: "qwen3-32b",
  messages: [{ role: "user", content: "word word word word" }],
  stream: true,
});

/**
 * Live streams that have sent their first token and are then silent, on few connections: 10,000 of them on one connection
 * each would need more open files than many machines give to a process.
 */
export class Crowd {
  readonly #sessions: ClientHttp2Session[] = [];
  #opened = 0;
  #ended = 0;

  /** How many are still open. */
  get live(): number {
    return this.#opened - this.#ended;
  }

  async open(port: number, count: number): Promise<void> {
    let left = count;
    const openSome = async (): Promise<void> => {
      while (left-- > 0) await this.#openOne(this.#session(port));
    };
    await Promise.all(Array.from({ length: Math.min(openAtOnce, count) }, openSome));
  }

  /** @throws when one of `count` has ended */
  requireLive(count: number): void {
    if (this.live !== count) throw new Error(`only ${this.live} of ${count} live streams were alive`);
  }

  close(): void {
    for (const session of this.#sessions) session.destroy();
  }

  #session(port: number): ClientHttp2Session {
    const last = this.#sessions.at(-1);
    const isFull = this.#opened++ % streamsPerConnection === 0;
    if (last && !isFull) return last;
    const session = connect(`http://127.0.0.1:${port}`);
    // A broken connection ends its streams, and they are counted.
    session.on("error", () => {});
    this.#sessions.push(session);
    return session;
  }

  #openOne(session: ClientHttp2Session): Promise<void> {
    const stream = session.request({
      ":method": "POST",
      ":path": "/v1/chat/completions",
      ":authority": "bench.example.com",
      authorization: "Bearer sk-bench",
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      [answerHeader]: "hold",
    });
    stream.end(body);
    return this.#firstToken(stream);
  }

  #firstToken(stream: ClientHttp2Stream): Promise<void> {
    return new Promise((resolve, reject) => {
      let text = "";
      stream.on("response", (headers) => {
        const status = headers[":status"];
        if (status !== 200) reject(new UnexpectedAnswerError(`a live stream got status ${status}`));
      });
      stream.on("data", (bytes: Buffer) => {
        text += bytes.toString("latin1");
        if (text.includes('"content":" token"')) resolve();
      });
      stream.on("error", reject);
      stream.on("close", () => {
        this.#ended++;
        reject(new UnexpectedAnswerError("a live stream ended before its first token"));
      });
    });
  }
}
