import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** Whom the service calls: keeps what comes, and is of little help. */
export class Called {
  readonly bodies: string[] = [];
  readonly heads: string[] = [];
  readonly #server: HttpServer;

  constructor(status: number) {
    this.#server = createHttpServer((request, response) => {
      this.heads.push(`${request.url} ${request.rawHeaders.join(" ")}`);
      let text = "";
      request.setEncoding("latin1");
      request.on("data", (piece) => {
        text += piece;
      });
      request.on("end", () => {
        this.bodies.push(text);
        response.writeHead(status).end();
      });
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** A Redis that refuses every password: its client's errors hold the command, and so the password. */
export class RefusingRedis {
  heard = "";
  readonly #sockets = new Set<Socket>();
  readonly #server: Server = createServer((socket) => {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      this.heard += bytes.toString("latin1");
      for (const _ of bytes.toString("latin1").matchAll(/\*\d+\r\n/g))
        socket.write("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
    });
  });

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
