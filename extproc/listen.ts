import type { Server } from "node:net";
import type { GrpcServer } from "./grpc-server.js";

/** An address can't be listened on; the message names the setting. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

/** host:port as bound, also when the address asked for port 0. */
export async function listenGrpc(server: GrpcServer, address: string): Promise<string> {
  const port = await server.listen(address).catch((cause: Error) => {
    throw listenError("listen.grpc", address, cause);
  });
  return `${hostOf(address)}:${port}`;
}

/** host:port as bound. */
export async function listenHttp(server: Server, address: string, field = "listen.http"): Promise<string> {
  const host = hostOf(address);
  const port = Number(address.slice(host.length + 1));
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(listenError(field, address, cause)));
    server.listen(port, host.replace(/^\[|\]$/g, ""), () => {
      const bound = server.address();
      resolve(`${host}:${typeof bound === "object" && bound ? bound.port : port}`);
    });
  });
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":"));
}

function listenError(field: string, address: string, cause: Error): ListenError {
  return new ListenError(
    `EXTPROC start: ${field} ${address} can't be listened on: ${cause.message}; free the port or set ${field} to another one`,
    { cause },
  );
}
