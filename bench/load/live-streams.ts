import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { UnexpectedAnswerError } from "./caller.js";
import type { RequestOfLine } from "./requests.js";

const openAtOnce = 64;

/** What the processes need beside the streams. */
const spareFiles = 500;

/** Streams that have sent their first token and are then silent, as those of slow or thinking models are. */
export class LiveStreams {
  readonly #sockets: Socket[] = [];
  #ended = 0;

  /** How many are still open. */
  get live(): number {
    return this.#sockets.length - this.#ended;
  }

  async open(port: number, request: RequestOfLine, count: number): Promise<void> {
    requireOpenFiles(2 * count + spareFiles);
    let left = count;
    const openSome = async (): Promise<void> => {
      while (left-- > 0) this.#sockets.push(await this.#openOne(port, request));
    };
    await Promise.all(Array.from({ length: openAtOnce }, openSome));
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #openOne(port: number, request: RequestOfLine): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(request(0)));
      let text = "";
      socket.on("data", (bytes) => {
        text += bytes.toString("latin1");
        if (!text.startsWith("HTTP/1.1 200 "))
          reject(new UnexpectedAnswerError(`a live stream got:\n${text}`));
        if (text.includes('"content":" token"')) resolve(socket);
      });
      socket.on("error", reject);
      socket.on("close", () => {
        this.#ended++;
        reject(new UnexpectedAnswerError("a live stream ended before its first token"));
      });
    });
  }
}

/** Both ends of each stream are here, and both of Envoy's are there. Node has raised the soft limit to the hard one. */
function requireOpenFiles(count: number): void {
  const limit = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
  if (limit === undefined || Number(limit) >= count) return;
  throw new Error(
    `the live streams need ${count} open files a process, the limit is ${limit}: raise "ulimit -Hn"`,
  );
}
