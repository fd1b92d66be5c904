import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";

/** Reads a head, and answers it with whatever bytes `answer` gives, without a thought for what was asked. */
export class RawBackend {
  answer: () => Buffer = () => Buffer.alloc(0);
  asked = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.#sockets.delete(socket));
      socket.once("data", () => {
        this.asked++;
        socket.end(this.answer());
      });
      socket.resume();
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
